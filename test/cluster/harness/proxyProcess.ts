import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { isInstalled } from "../../delivery/installed.ts";
import { root } from "../../docs/documents.ts";
import { freePort, temporaryFolder, until } from "./nodeProcess.ts";

/** Where a follower listens on loopback. */
export interface FollowerPlace {
  readonly httpPort: number;
  readonly wsPort: number;
}

/** A real proxy with the configuration that we ship, before three followers. */
export interface ProxyProcess {
  readonly httpPort: number;
  readonly wsPort: number;
  /** What it logged. */
  output(): string;
  stop(): Promise<void>;
}

export const hasHaproxy = isInstalled("haproxy", "-v");
export const hasNginx = isInstalled("nginx", "-v");

/** HAProxy with config/haproxy.cfg as it is; the places come from the environment that the file names. */
export async function startHaproxy(followers: readonly FollowerPlace[]): Promise<ProxyProcess> {
  const [httpPort, wsPort] = [await freePort(), await freePort()];
  const places = followers.flatMap((place, index) => [
    [`FOLLOWER_${index + 1}_HTTP`, `127.0.0.1:${place.httpPort}`],
    [`FOLLOWER_${index + 1}_WS`, `127.0.0.1:${place.wsPort}`],
  ]);
  const listen = { LISTEN_HTTP: `127.0.0.1:${httpPort}`, LISTEN_WS: `127.0.0.1:${wsPort}` };
  const child = spawn("haproxy", ["-f", join(root, "config", "haproxy.cfg")], {
    env: { ...process.env, ...Object.fromEntries(places), ...listen },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return whenListening(child, httpPort, wsPort);
}

/** Nginx with config/nginx.conf as it is; the two files of places that it includes are rewritten. */
export async function startNginx(followers: readonly FollowerPlace[]): Promise<ProxyProcess> {
  const [httpPort, wsPort] = [await freePort(), await freePort()];
  const child = spawn("nginx", nginxOptions(followers, [httpPort, wsPort]), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  return whenListening(child, httpPort, wsPort);
}

/** Makes a folder for nginx; returns the options with which nginx uses it, and nothing of the system. */
export function nginxOptions(
  followers: readonly FollowerPlace[],
  listen: readonly number[],
): readonly string[] {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "ibex"));
  copyFileSync(join(root, "config", "nginx.conf"), join(folder, "ibex.conf"));
  const shipped = readFileSync(join(root, "config", "nginx", "followers.conf"), "utf8");
  const places = followers.reduce(
    (text, { httpPort, wsPort }, index) =>
      text
        .replaceAll(`follower-${index + 1}:8545`, `127.0.0.1:${httpPort}`)
        .replaceAll(`follower-${index + 1}:8546`, `127.0.0.1:${wsPort}`),
    shipped.replaceAll("/run/", `${folder}/`).replaceAll("/var/cache/", `${folder}/`),
  );
  writeFileSync(join(folder, "ibex", "followers.conf"), places);
  writeFileSync(
    join(folder, "ibex", "listen.conf"),
    listen.map((port) => `listen 127.0.0.1:${port};\n`).join(""),
  );
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  // Debian's own nginx.conf, with folders of this test, which are readable to its user alone.
  const user = process.getuid?.() === 0 ? "user root; " : "";
  writeFileSync(
    join(folder, "nginx.conf"),
    `${user}daemon off; pid ${folder}/pid; worker_processes 2; events { worker_connections 1024; }
http { access_log off; error_log stderr warn; ${temporary} include ibex.conf; }`,
  );
  return ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")];
}

async function whenListening(child: ChildProcess, httpPort: number, wsPort: number): Promise<ProxyProcess> {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-KEPT_OUTPUT);
    });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  await until(async () => (await isListening(httpPort)) || undefined, "the start of the proxy").catch(
    async (error: Error) => {
      await stop();
      throw new Error(`${error.message}:\n${output}`);
    },
  );
  return { httpPort, wsPort, output: () => output, stop };
}

const KEPT_OUTPUT = 100_000;

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
