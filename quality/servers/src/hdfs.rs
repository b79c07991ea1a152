//! HDFS: Hadoop's NameNode and one DataNode.
//!
//! Hadoop itself is not in a package registry, but PySpark's releases include its libraries, which contain the servers; Debian
//! has the few libraries that PySpark omits.

use std::path::Path;

use super::install::{Need, python};
use super::process::Process;
use super::server::{LIMIT, Server, Site, Started, connect, free_port};
use zarrox_runner::run::{self, Outcome, Program, program};

pub(super) const SERVER: Server = Server {
    name: "hdfs",
    needs: &[
        Need::Python,
        Need::Debian { file: "java", package: "openjdk-17-jre-headless" },
        Need::Debian { file: JARS[0], package: "libjersey1-core-java" },
        Need::Debian { file: JARS[1], package: "libjersey1-server-java" },
        Need::Debian { file: JARS[2], package: "libjersey1-servlet-java" },
        Need::Debian { file: JARS[3], package: "libjsr311-api-java" },
        Need::Debian { file: JARS[4], package: "libcommons-daemon-java" },
        Need::Debian { file: JARS[5], package: "libjaxb-api-java" },
        Need::Debian { file: JARS[6], package: "libactivation-java" },
    ],
    variables: &["HDFS"],
    start,
};

/// The libraries from Debian.
const JARS: [&str; 7] = [
    "/usr/share/java/jersey1-core.jar",
    "/usr/share/java/jersey1-server.jar",
    "/usr/share/java/jersey1-servlet.jar",
    "/usr/share/java/jsr311-api.jar",
    "/usr/share/java/commons-daemon.jar",
    "/usr/share/java/jaxb-api.jar",
    "/usr/share/java/javax.activation.jar",
];

const PYSPARK: &str = "pyspark==2.4.8";
/// The configure script looks for a function that later releases do not have.
const CONSTRAINT: &str = "pypandoc<1.8\n";

/// The directory of PySpark's libraries.
const HADOOP: &str = "target/servers/hadoop";

/// Unpacks the libraries of the servers from PySpark.
const UNPACK: &str = r#"
import pathlib, re, shutil, sys, tarfile
directory = pathlib.Path(sys.argv[1])
wanted = re.compile(
    r".*/deps/jars/((hadoop-(annotations|auth|common|hdfs)|commons-\w+|guava|htrace-core|javax\.servlet-api|jetty|jetty-util|log4j"
    r"|slf4j-\w+|netty|netty-all|protobuf-java|xercesImpl|leveldbjni-all|jackson-(core|mapper)-asl)-\d[\w.-]*\.jar)"
)
archive = next(directory.glob("pyspark-*.tar.gz"))
with tarfile.open(archive) as tar:
    for member in tar:
        if found := wanted.fullmatch(member.name):
            with open(directory / found[1], "wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file)
archive.unlink()
"#;

/// The Java modules that Hadoop needs opened, since Java closes them by default.
const OPTIONS: [&str; 6] = [
    "-Xmx256m",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
];

const LOG: &str = "\
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n
";

/// Checks that the NameNode has a DataNode.
const READY: &str = r#"
import json, sys, urllib.request
url = f"http://{sys.argv[1]}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
state = json.load(urllib.request.urlopen(url, timeout=10))["beans"][0]
assert state["FSState"] == "Operational" and state["NumLiveDataNodes"] == 1, state
"#;

fn start(site: &Site) -> Outcome<Started> {
    unpack_hadoop()?;
    let rpc = free_port()?;
    let web = configure(site, rpc)?;
    let node =
        |class: &str| Ok::<_, String>(java(site)?.with([format!("org.apache.hadoop.hdfs.server.{class}")]));
    let namenode = node("namenode.NameNode")?;
    let format = namenode.clone().with(["-format", "-force", "-nonInteractive"]);
    if let (false, log) = format.log()? {
        return Err(format!("hdfs: it cannot be formatted:\n{log}"));
    }
    let directory = Path::new(&site.directory);
    let mut namenode = Process::start(&namenode, "namenode", directory)?;
    let mut datanode = Process::start(&node("datanode.DataNode")?, "datanode", directory)?;
    namenode.wait(LIMIT, || connect(rpc))?;
    site.prepare(&mut datanode, READY, &[&web])?;
    Ok(Started { processes: vec![namenode, datanode], values: vec![format!("hdfs://127.0.0.1:{rpc}")] })
}

/// Downloads the libraries if they are missing.
fn unpack_hadoop() -> Outcome {
    let marker = Path::new(HADOOP).join("installed");
    if run::read(&marker).is_ok_and(|installed| installed == PYSPARK) {
        return Ok(());
    }
    run::empty_directory(HADOOP)?;
    let constraint = format!("{HADOOP}/constraint.txt");
    run::write(&constraint, CONSTRAINT)?;
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pyspark", PYSPARK];
    let download = program(python()?, download).with(["--dest", HADOOP]);
    download.variable("PIP_CONSTRAINT", &run::absolute(&constraint)?).run()?;
    // The text of the program is not printed.
    match program(python()?, ["-c", UNPACK, HADOOP]).log()? {
        (true, _) => run::write(marker, PYSPARK),
        (false, log) => Err(format!("{PYSPARK} cannot be unpacked:\n{log}")),
    }
}

/// Returns Java with the libraries of Hadoop and the configuration.
fn java(site: &Site) -> Outcome<Program> {
    let hadoop = format!("{}/*", run::absolute(HADOOP)?);
    // The servers also look for their web pages in the class path.
    let own = [site.path("conf"), site.directory.clone()];
    let path: Vec<&str> = own.iter().map(String::as_str).chain(JARS).chain([hadoop.as_str()]).collect();
    let path = path.join(":");
    Ok(program("java", OPTIONS).with([format!("-Dhadoop.log.dir={}", site.directory)]).with(["-cp", &path]))
}

/// Writes the configuration, and returns the address of the NameNode's web server.
fn configure(site: &Site, rpc: u16) -> Outcome<String> {
    let address = || Ok::<_, String>(format!("127.0.0.1:{}", free_port()?));
    let web = address()?;
    let core = [("fs.defaultFS", format!("hdfs://127.0.0.1:{rpc}")), ("hadoop.tmp.dir", site.path("data"))];
    let hdfs = [
        ("dfs.replication", "1".to_owned()),
        ("dfs.namenode.http-address", web.clone()),
        ("dfs.datanode.address", address()?),
        ("dfs.datanode.http.address", address()?),
        ("dfs.datanode.ipc.address", address()?),
        ("dfs.datanode.hostname", "127.0.0.1".to_owned()),
    ];
    run::write(site.path("conf/core-site.xml"), &properties(&core))?;
    run::write(site.path("conf/hdfs-site.xml"), &properties(&hdfs))?;
    run::write(site.path("conf/log4j.properties"), LOG)?;
    // The libraries do not contain the pages, and the servers do not start without any.
    for node in ["hdfs", "datanode"] {
        run::write(site.path(&format!("webapps/{node}/WEB-INF/web.xml")), "<web-app/>")?;
    }
    Ok(web)
}

/// Returns a configuration in Hadoop's format.
fn properties(properties: &[(&str, String)]) -> String {
    let property = |(name, value): &(&str, String)| {
        let value = value.replace('&', "&amp;").replace('<', "&lt;");
        format!("<property><name>{name}</name><value>{value}</value></property>\n")
    };
    format!("<configuration>\n{}</configuration>\n", properties.iter().map(property).collect::<String>())
}
