import { execFile } from "node:child_process";
import net from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { TlsFiles } from "../../builders/tlsFiles.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { pause, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { aNodeWithTls, countSeconds } from "../harness/tlsNode.ts";

const run = promisify(execFile);

describe.runIf(IS_THOROUGH).each([1, 2])("a node with TLS, and %i threads for callers", (threads) => {
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
    await until(async () => (reread() ? true : undefined), "an answer to SIGHUP");
    await until(
      async () => (typeof (await head(second, client)) === "string" ? true : undefined),
      "the client being unknown",
    );
    know(client);
    program.child.kill("SIGHUP");
    await until(
      async () => (typeof (await head(second, client)) === "number" ? true : undefined),
      "an answer with the second certificate",
    );
    expect(await head(first, client)).toBeTypeOf("string");

    if (IS_THOROUGH) {
      await attack({ httpPort, wsPort, client }, async () => {
        const before = await head(second, client);
        const own = new OwnTime(program);
        await countSeconds(8);
        const least = own.leastBlocks();
        const after = await head(second, client);
        expect([before, after]).toEqual([expect.any(Number), expect.any(Number)]);
        expect(Number(after) - Number(before)).toBeGreaterThanOrEqual(least);
      });
      await expect.poll(() => metric("handshake")).toBeGreaterThan(50);
    }
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
  });
});

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
