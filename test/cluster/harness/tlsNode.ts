import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { aCertificateFor, aKeystore, type TlsFiles } from "../../builders/tlsFiles.ts";
import { freePort, pause, runProgram, temporaryFolder, until } from "./nodeProcess.ts";

const run = promisify(execFile);

/** A development node with certificates of clients over HTTP, and TLS alone over WebSocket. */
export async function aNodeWithTls(threads: number) {
  const folder = temporaryFolder();
  const files = { clients: join(folder, "clients"), keystore: join(folder, "server.p12") };
  const certificates = {
    first: aCertificateFor("localhost"),
    second: aCertificateFor("localhost"),
    client: aCertificateFor("caller"),
  };
  const install = async (server: TlsFiles): Promise<void> =>
    void (await run("cp", [aKeystore(server, "secret"), files.keystore]));
  const know = (...clients: readonly TlsFiles[]): void =>
    writeFileSync(files.clients, clients.map(({ fingerprint }) => `caller ${fingerprint}\n`).join(""));
  await install(certificates.first);
  know(certificates.client);
  writeFileSync(join(folder, "password"), "secret\n");
  const [httpPort, wsPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const program = runProgram([
    ...[`--data-path=${folder}`, `--rpc-http-port=${httpPort}`, `--rpc-ws-port=${wsPort}`],
    // All connections come from this machine, which is a proxy by default.
    ...[
      "--rpc-proxy-addresses=none",
      "--p2p-port=0",
      "--metrics-enabled",
      `--metrics-port=${metricsPort}`,
      `--rpc-threads=${threads}`,
    ],
    ...["--rpc-http-tls-enabled", `--rpc-http-tls-keystore-file=${files.keystore}`],
    ...[`--rpc-http-tls-keystore-password-file=${join(folder, "password")}`],
    ...["--rpc-http-tls-client-auth-enabled", `--rpc-http-tls-known-clients-file=${files.clients}`],
    ...["--rpc-ws-tls-enabled", `--rpc-ws-tls-certificate-file=${certificates.first.certificateFile}`],
    `--rpc-ws-tls-key-file=${certificates.first.keyFile}`,
  ]);
  /** The number of the head, or the error; asked from another address than that of the attackers. */
  const head = (server: TlsFiles, client?: TlsFiles): Promise<number | string> =>
    new Promise((resolve) => {
      const own = client && { key: client.key, cert: client.certificate };
      const outgoing = request(
        {
          port: httpPort,
          host: "127.0.0.1",
          method: "POST",
          agent: false,
          ca: server.certificate,
          localAddress: "127.0.0.2",
          ...own,
        },
        (incoming) => {
          let text = "";
          incoming.on("data", (piece: Buffer) => {
            text += piece.toString();
          });
          incoming.on("end", () => resolve(Number((JSON.parse(text) as { result: string }).result)));
        },
      );
      outgoing.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      outgoing.end('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}');
    });
  const metric = async (reason: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const found = new RegExp(`^rpc_requests_rejected_total\\{reason="${reason}"\\} (.*)$`, "m").exec(text);
    return Number(found?.[1]);
  };
  const { first, client } = certificates;
  // Written when all ports are open; that of HTTP is some tenths of a second before the others.
  await until(async () => (existsSync(join(folder, "besu.ports")) ? true : undefined), "the file of ports");
  await until(
    async () => (typeof (await head(first, client)) === "number" ? true : undefined),
    "an answer over TLS",
  );
  return { program, httpPort, wsPort, certificates, files, install, know, head, metric };
}

/**
 * Waits so many seconds as this process lives them: where the machine stands still, or has no time for its processes, neither
 * they nor blocks go on.
 */
export async function countSeconds(seconds: number): Promise<number> {
  for (let beat = 0; beat < 10 * seconds; beat++) await pause(100);
  return seconds;
}
