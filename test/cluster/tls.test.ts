import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import net from "node:net";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { aCertificateFor, aKeystore, type TlsFiles } from "../builders/tlsFiles.ts";
import { IN_REAL_TIME } from "../realTime.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { freePort, pause, runProgram, temporaryFolder, until } from "./nodeProcess.ts";

const run = promisify(execFile);

/** A development node with certificates of clients over HTTP, and TLS alone over WebSocket. */
async function aNodeWithTls(threads: number) {
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
  await until(
    async () => (existsSync(join(folder, "besu.ports")) ? true : undefined),
    60_000,
    "the file of ports",
  );
  await until(
    async () => (typeof (await head(first, client)) === "number" ? true : undefined),
    60_000,
    "an answer over TLS",
  );
  return { program, httpPort, wsPort, certificates, install, know, head, metric };
}

describe.each([0, 2])("a node with TLS, and %i threads for callers", IN_REAL_TIME, (threads) => {
  it("is called by curl, takes over certificates and clients, and is not held up by handshakes", async () => {
    const node = await aNodeWithTls(threads);
    const { program, httpPort, wsPort, certificates, install, know, head, metric } = node;
    const { first, second, client } = certificates;

    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
    const { stdout } = await run("curl", [
      ...["-sS", "--cacert", first.certificateFile, "--cert", client.certificateFile],
      ...["--key", client.keyFile, "--data", body, `https://localhost:${httpPort}`],
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ result: "0x539" });
    const plain = await fetch(`http://127.0.0.1:${wsPort}`);
    expect([plain.status, await plain.text()]).toEqual([
      400,
      "This port speaks TLS only: use https or wss.\n",
    ]);
    expect(await head(first)).toBeTypeOf("string");
    await expect.poll(() => metric("certificate")).toBeGreaterThan(0);

    await install(second);
    know();
    program.child.kill("SIGHUP");
    const reread = () => program.output().includes("rpc-http TLS: other clients, 0 known by name");
    await until(async () => (reread() ? true : undefined), 20_000, "an answer to SIGHUP");
    await until(
      async () => (typeof (await head(second, client)) === "string" ? true : undefined),
      10_000,
      "the client being unknown",
    );
    know(client);
    program.child.kill("SIGHUP");
    await until(
      async () => (typeof (await head(second, client)) === "number" ? true : undefined),
      10_000,
      "an answer with the second certificate",
    );
    expect(await head(first, client)).toBeTypeOf("string");

    if (IS_THOROUGH) {
      await attack({ httpPort, wsPort, client }, async () => {
        const [before, seconds, after] = [
          await head(second, client),
          await countSeconds(8),
          await head(second, client),
        ];
        expect([before, after]).toEqual([expect.any(Number), expect.any(Number)]);
        expect(Number(after) - Number(before)).toBeGreaterThan(seconds - 2);
      });
      await expect.poll(() => metric("handshake")).toBeGreaterThan(50);
    }
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
  }, 120_000);
});

/**
 * Waits so many seconds as this process lives them: where the machine stands still, or has no time for its processes, neither
 * they nor blocks go on.
 */
async function countSeconds(seconds: number): Promise<number> {
  for (let beat = 0; beat < 10 * seconds; beat++) await pause(100);
  return seconds;
}

/**
 * Half-open connections, half handshakes and whole ones without a certificate or with far too many, and clients that
 * renegotiate, as many as this process can make.
 */
async function attack(
  { httpPort: port, wsPort, client }: { httpPort: number; wsPort: number; client: TlsFiles },
  during: () => Promise<void>,
): Promise<void> {
  let isOn = true;
  const open = new Set<net.Socket>();
  const one = async (bytes: Buffer | undefined): Promise<void> => {
    const socket = net.connect(port, "127.0.0.1");
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => open.delete(socket));
    if (bytes !== undefined) socket.write(bytes);
    await pause(20);
  };
  const whole = (options: ConnectionOptions & { readonly localAddress?: string }): Promise<void> =>
    new Promise((resolve) => {
      const secure = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
      secure.on("error", () => undefined).resume();
      secure.once("close", () => resolve());
      secure.once("secureConnect", () => secure.renegotiate({}, () => undefined));
    });
  const many = { key: client.key, cert: client.certificate.repeat(60) };
  const half = Buffer.from("16030100c8010000c40303", "hex");
  const keep = async (work: () => Promise<void>): Promise<void> => {
    while (isOn) await work();
  };
  const attackers = [
    ...Array.from({ length: 8 }, () => keep(() => one(undefined))),
    ...Array.from({ length: 8 }, () => keep(() => one(half))),
    ...Array.from({ length: 8 }, () => keep(() => whole({}))),
    ...Array.from({ length: 4 }, () => keep(() => whole({ ...many, localAddress: "127.0.0.3" }))),
    ...Array.from({ length: 4 }, () => keep(() => whole({ port: wsPort, maxVersion: "TLSv1.2" }))),
  ];
  try {
    await during();
  } finally {
    isOn = false;
    await Promise.all(attackers);
    for (const socket of open) socket.destroy();
  }
}
