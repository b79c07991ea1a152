//! HTTP and HTTPS, by nginx, which serves a directory that tests write to.

use super::install::Need;
use super::server::{LIMIT, Server, Site, Started, connect, free_port};
use zarrox_runner::run::{self, Outcome, Program, program};

pub(super) const SERVER: Server = Server {
    name: "http",
    needs: &[
        Need::Debian { file: "nginx", package: "nginx-light" },
        Need::Debian { file: "openssl", package: "openssl" },
    ],
    variables: &["HTTP", "HTTP_ROOT", "HTTPS", "HTTPS_CA"],
    start,
};

/// One process is enough, and runs as the current user. `/private/` is forbidden for all clients.
const CONFIGURATION: &str = "\
daemon off;
master_process off;
pid DIRECTORY/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    default_type application/octet-stream;
    client_body_temp_path DIRECTORY/body;
    proxy_temp_path DIRECTORY/proxy;
    fastcgi_temp_path DIRECTORY/fastcgi;
    uwsgi_temp_path DIRECTORY/uwsgi;
    scgi_temp_path DIRECTORY/scgi;
    server {
        listen 127.0.0.1:HTTP_PORT;
        listen 127.0.0.1:HTTPS_PORT ssl;
        ssl_certificate DIRECTORY/server.pem;
        ssl_certificate_key DIRECTORY/server.key;
        root DIRECTORY/root;
        autoindex on;
        autoindex_format json;
        location /private/ { deny all; }
    }
}
";

fn start(site: &Site) -> Outcome<Started> {
    let root = site.subdirectory("root")?;
    site.subdirectory("root/private")?;
    make_certificates(site)?;
    let (http, https) = (free_port()?, free_port()?);
    let configuration = CONFIGURATION
        .replace("DIRECTORY", &site.directory)
        .replace("HTTP_PORT", &http.to_string())
        .replace("HTTPS_PORT", &https.to_string());
    let path = site.path("nginx.conf");
    run::write(&path, &configuration)?;
    // nginx uses the system's log until it has read the path of its own log.
    let server = program("nginx", ["-c", &path, "-e", "stderr"]);
    let mut process = site.start(&on_wide_path(server))?;
    process.wait(LIMIT, || connect(http).and(connect(https)))?;
    let values = vec![
        format!("http://127.0.0.1:{http}"),
        root,
        format!("https://127.0.0.1:{https}"),
        site.path("ca.pem"),
    ];
    Ok(Started { processes: vec![process], values })
}

/// Debian installs nginx on the administrator's path.
pub(super) fn on_wide_path(program: Program) -> Program {
    let path = std::env::var("PATH").unwrap_or_default();
    program.variable("PATH", &format!("{path}:/usr/sbin"))
}

/// Creates a certificate for the loopback address, and the authority that signed it: clients reject a self-signed certificate.
fn make_certificates(site: &Site) -> Outcome {
    let certificate = |name: &str, subject: &str, extensions: &[&str]| {
        let [key, out] = ["key", "pem"].map(|kind| site.path(&format!("{name}.{kind}")));
        let openssl =
            program("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        let openssl =
            openssl.with(["-nodes", "-days", "30", "-keyout", &key, "-out", &out, "-subj", subject]);
        openssl.with(extensions.iter().flat_map(|extension| ["-addext", extension]))
    };
    let authority = certificate("ca", "/CN=Zarrox tests", &["keyUsage=critical,keyCertSign"]);
    let extensions = ["basicConstraints=critical,CA:FALSE", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
    let server = certificate("server", "/CN=localhost", &extensions);
    let server = server.with(["-CA", &site.path("ca.pem"), "-CAkey", &site.path("ca.key")]);
    [authority, server].iter().try_for_each(|command| match command.log()? {
        (true, _) => Ok(()),
        (false, log) => Err(format!("failed: {command}\n{log}")),
    })
}
