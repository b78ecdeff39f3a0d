import { once } from "node:events";
import type net from "node:net";
import tls from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { ARRIVAL_TIMES } from "../../../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../../../src/rpc/server/server.ts";
import { HANDSHAKES_PER_HOST } from "../../../../src/rpc/server/tls/handshakeLimits.ts";
import type { ClientRules, TlsRules } from "../../../../src/rpc/server/tls/tlsRules.ts";
import { settling, takeTimeouts } from "../../../builders/handTimeouts.ts";
import { aCertificateFor, type TlsFiles } from "../../../builders/tlsFiles.ts";
import { aToyDispatcher } from "../../toyMethods.ts";
import { aWebSocketServer } from "../servers.ts";
import {
  ANSWER,
  aTlsServer as aServer,
  ask as askTrusting,
  BODY,
  connected,
  identityOf,
  textUntilClosed,
} from "./tlsServers.ts";

let files: Readonly<Record<"server" | "renewed" | "client" | "other" | "authority" | "signed", TlsFiles>>;

beforeAll(() => {
  const authority = aCertificateFor("authority");
  files = {
    server: aCertificateFor("localhost"),
    renewed: aCertificateFor("localhost"),
    client: aCertificateFor("client one"),
    other: aCertificateFor("other"),
    authority,
    signed: aCertificateFor("signed", authority),
  };
});

const aTlsServer = (more: Partial<TlsRules> = {}) => aServer(files.server, more);

const ask = (
  server: RpcServer,
  options: tls.ConnectionOptions = {},
  trusted = files.server,
): Promise<string> => askTrusting(server, trusted, options);

describe("a server with TLS", () => {
  it("answers over its versions and cipher suites, and no others", async () => {
    const { server } = await aTlsServer({
      ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384",
      maxVersion: "TLSv1.2",
    });
    expect(await ask(server)).toBe(`200 ${ANSWER}`);
    expect(await ask(server, { ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" })).toMatch(/^error/);
    const newest = await aTlsServer({ minVersion: "TLSv1.3" });
    expect(await ask(newest.server, { maxVersion: "TLSv1.2" })).toMatch(/^error/);
    expect(await ask(newest.server)).toBe(`200 ${ANSWER}`);
    expect(newest.rejections).toEqual(["handshake"]);
  });

  it("tells who speaks plain HTTP that it speaks TLS, and ends what is neither", async () => {
    const { server, rejections } = await aTlsServer();
    const plain = await connected(server);
    plain.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
    expect(await textUntilClosed(plain)).toMatch(
      /^HTTP\/1\.1 400 Bad Request[\s\S]*This port speaks TLS only/,
    );
    const nonsense = await connected(server);
    nonsense.write("\0\0\0\0");
    expect(await textUntilClosed(nonsense)).toBe("");
    expect(rejections).toEqual(["handshake", "handshake"]);
  });

  it("uses another certificate from the next connection on", async () => {
    const { server, rules } = await aTlsServer();
    expect(await ask(server)).toBe(`200 ${ANSWER}`);
    rules.current = { ...rules.current, identity: identityOf(files.renewed) };
    expect(await ask(server)).toMatch(/^error/);
    expect(await ask(server, {}, files.renewed)).toBe(`200 ${ANSWER}`);
  });

  it("does not renegotiate", async () => {
    const { server, rejections, warnings } = await aTlsServer({ maxVersion: "TLSv1.2" });
    const socket = tls.connect({ port: server.port, host: "127.0.0.1", ca: files.server.certificate });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    socket.renegotiate({}, () => undefined);
    await once(socket, "close");
    expect(await ask(server)).toBe(`200 ${ANSWER}`);
    expect({ rejections, warnings }).toEqual({
      rejections: ["handshake"],
      warnings: ["the client renegotiates"],
    });
  });

  it("gives a handshake five seconds, with the first byte, and does not wait for the others meanwhile", async () => {
    const arrivalTimes = ARRIVAL_TIMES;
    const { server, rejections } = await aServer(files.server, {}, [], { arrivalTimes });
    const timeouts = takeTimeouts();
    const silent = await connected(server);
    const half = await connected(server);
    half.write(Buffer.from("16030100c8010000c4", "hex"));
    const closed = Promise.all([textUntilClosed(silent), textUntilClosed(half)]);
    expect(await ask(server)).toBe(`200 ${ANSWER}`);
    const closing = settling(closed);
    await timeouts.advanceBy(4_999);
    expect(closing.isSettled).toBe(false);
    await timeouts.advanceBy(1);
    await closed;
    expect(rejections).toEqual(["handshake", "handshake"]);
  });

  it("lets few handshakes be under way, of which the oldest make room", async () => {
    const { server, rejections } = await aServer(files.server, {}, []);
    const open: net.Socket[] = [];
    for (let one = 0; one < 2 * HANDSHAKES_PER_HOST; one++) open.push(await connected(server));
    await expect.poll(() => rejections.length).toBe(HANDSHAKES_PER_HOST);
    await expect.poll(() => open.filter(({ destroyed }) => destroyed).length).toBe(HANDSHAKES_PER_HOST);
    expect(await ask(server)).toBe(`200 ${ANSWER}`);
    expect(server.connectionCount).toBeLessThanOrEqual(1);
    for (const socket of open) socket.destroy();
  });

  it("closes while handshakes are under way", async () => {
    const { server } = await aTlsServer();
    const silent = await connected(server);
    const closed = once(silent, "close");
    // Neither the time of a handshake nor that of an end by force passes.
    takeTimeouts();
    await Promise.all([server.close(), closed]);
  });

  it("serves many at once, and WebSocket", async () => {
    const { server } = await aTlsServer();
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(server)));
    expect(new Set(answers)).toEqual(new Set([`200 ${ANSWER}`]));
    const { rules } = await aTlsServer();
    const { dispatcher } = aToyDispatcher();
    const { port } = await aWebSocketServer(dispatcher, { tls: rules.current });
    const socket = new WebSocket(`wss://127.0.0.1:${port}`, { ca: files.server.certificate });
    await once(socket, "open");
    socket.send(BODY);
    expect(String((await once(socket, "message"))[0])).toBe(ANSWER);
    socket.terminate();
  });
});

describe("a client", () => {
  const known = (client: TlsFiles, commonName: string) => ({ commonName, fingerprint: client.fingerprint });

  async function accepted(clients: ClientRules, client: TlsFiles | undefined): Promise<boolean> {
    const { server, rejections } = await aTlsServer({ clients });
    const own = client === undefined ? {} : { key: client.key, cert: client.certificate };
    const outcomes = new Set<boolean>();
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
      outcomes.add((await ask(server, { ...own, maxVersion })) === `200 ${ANSWER}`);
    expect(outcomes.size).toBe(1);
    const [isAccepted = false] = outcomes;
    expect(rejections).toEqual(isAccepted ? [] : ["certificate", "certificate"]);
    return isAccepted;
  }

  it("is known by common name and fingerprint together", async () => {
    const { client, other } = files;
    const rules = { known: [known(client, "client one")], authorities: undefined };
    expect(await accepted(rules, client)).toBe(true);
    expect(await accepted(rules, other)).toBe(false);
    expect(await accepted(rules, undefined)).toBe(false);
    expect(await accepted({ ...rules, known: [known(client, "other")] }, client)).toBe(false);
    expect(await accepted({ ...rules, known: [known(other, "client one")] }, client)).toBe(false);
  });

  it("is accepted when the authority signed its certificate, or else is known", async () => {
    const { authority, client, signed } = files;
    const rules = { known: [known(client, "client one")], authorities: authority.certificate };
    expect(await accepted(rules, signed)).toBe(true);
    expect(await accepted(rules, client)).toBe(true);
    expect(await accepted({ ...rules, known: [] }, client)).toBe(false);
    expect(await accepted({ known: [], authorities: "public" }, signed)).toBe(false);
    expect(await accepted({ known: [], authorities: undefined }, signed)).toBe(false);
  });

  it("that is removed is refused at its next connection", async () => {
    const { client } = files;
    const clients = { known: [known(client, "client one")], authorities: undefined };
    const { server, rules } = await aTlsServer({ clients });
    const own = { key: client.key, cert: client.certificate };
    expect(await ask(server, own)).toBe(`200 ${ANSWER}`);
    rules.current = { ...rules.current, clients: { ...clients, known: [] } };
    expect(await ask(server, own)).toMatch(/^error/);
  });
});
