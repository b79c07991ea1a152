//! WebDAV, by Apache, which replaces values in one step, and by WsgiDAV, which does not.

use std::path::Path;

use super::install::{Need, python_program};
use super::nginx::on_wide_path;
use super::process::Process;
use super::server::{LIMIT, Server, Site, Started, connect, free_port};
use zarrox_runner::run::{self, Outcome, program};

pub(super) const SERVER: Server = Server {
    name: "webdav",
    needs: &[Need::Debian { file: "apache2", package: "apache2-bin" }, Need::Python],
    variables: &["WEBDAV", "WSGIDAV"],
    start,
};

/// The directory of Apache's modules in Debian.
const MODULES: &str = "/usr/lib/apache2/modules";

const CONFIGURATION: &str = "\
LoadModule mpm_event_module MODULES/mod_mpm_event.so
LoadModule authz_core_module MODULES/mod_authz_core.so
LoadModule dav_module MODULES/mod_dav.so
LoadModule dav_fs_module MODULES/mod_dav_fs.so
ServerName localhost
ServerRoot DIRECTORY
Listen 127.0.0.1:PORT
PidFile DIRECTORY/apache.pid
ErrorLog /dev/stderr
DavLockDB DIRECTORY/locks
DocumentRoot DIRECTORY/apache
AllowEncodedSlashes On
<Directory DIRECTORY/apache>
    Dav On
    AllowOverride None
    Require all granted
</Directory>
<Location /private>
    Require all denied
</Location>
";

fn start(site: &Site) -> Outcome<Started> {
    let (apache, apache_port) = start_apache(site)?;
    let (wsgidav, wsgidav_port) = start_wsgidav(site)?;
    let values = [apache_port, wsgidav_port].map(|port| format!("http://127.0.0.1:{port}"));
    Ok(Started { processes: vec![apache, wsgidav], values: values.into() })
}

fn start_apache(site: &Site) -> Outcome<(Process, u16)> {
    site.subdirectory("apache")?;
    let port = free_port()?;
    let configuration = CONFIGURATION
        .replace("MODULES", MODULES)
        .replace("DIRECTORY", &site.directory)
        .replace("PORT", &port.to_string());
    let path = site.path("apache.conf");
    run::write(&path, &configuration)?;
    let server = on_wide_path(program("apache2", ["-D", "FOREGROUND", "-f", &path]));
    Ok((site.start_listening(&server, port)?, port))
}

fn start_wsgidav(site: &Site) -> Outcome<(Process, u16)> {
    let port = free_port()?;
    let server =
        program(python_program("wsgidav")?, ["--host=127.0.0.1", "--auth=anonymous", "--server=cheroot"])
            .with([format!("--port={port}"), format!("--root={}", site.subdirectory("wsgidav")?)]);
    // Each server has its own log.
    let mut process = Process::start(&server, "wsgidav", Path::new(&site.directory))?;
    process.wait(LIMIT, || connect(port))?;
    Ok((process, port))
}
