import { once } from "node:events";
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { ARRIVAL_TIMES } from "../../../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../../../src/rpc/server/server.ts";
import {
  CERTIFICATES_BYTES,
  HANDSHAKES,
  HANDSHAKES_PER_HOST,
  HELLO_BYTES,
  HELLO_PIECES,
} from "../../../../src/rpc/server/tls/handshakeLimits.ts";
import { createHandshakeTime } from "../../../../src/rpc/server/tls/handshakeTime.ts";
import { createHandClock } from "../../../builders/handClock.ts";
import { takeTimeouts } from "../../../builders/handTimeouts.ts";
import { aKeyUpdater } from "../../../builders/keyUpdates.ts";
import { aCertificateFor, aSignedCertificate, type TlsFiles } from "../../../builders/tlsFiles.ts";
import { itIfThorough } from "../../../thorough.ts";
import { ANSWER, ask, aTlsServer, BODY, connected, textUntilClosed } from "./tlsServers.ts";

let certificate: TlsFiles;
let authority: TlsFiles;

beforeAll(() => {
  certificate = aCertificateFor("localhost");
  authority = aCertificateFor("authority");
});

const ANSWERED = `200 ${ANSWER}`;

describe("a first message", () => {
  it("is answered when it comes in pieces, and after other connections have waited for longer", async () => {
    const { server, rejections } = await aTlsServer(certificate);
    const patient = await Promise.all(Array.from({ length: 80 }, () => connected(server)));
    expect(await askOver(inPieces(net.connect(server.port, "127.0.0.1")))).toBe("HTTP/1.1 200 OK");
    // All of them are answered: an honest client opens as many connections at once.
    const answers = await Promise.all(patient.map((one) => askOver(one)));
    expect(new Set(answers)).toEqual(new Set(["HTTP/1.1 200 OK"]));
    expect(rejections).toEqual([]);
  });

  it("is refused when it is too large, in too many pieces, or another one", async () => {
    const { server, rejections, warnings } = await aTlsServer(certificate);
    const send = async (bytes: Buffer, piece = bytes.length): Promise<string> => {
      const socket = await connected(server);
      socket.setNoDelay();
      const closed = textUntilClosed(socket);
      for (let at = 0; at < bytes.length && socket.writable; at += piece) {
        socket.write(bytes.subarray(at, at + piece));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return closed;
    };
    await send(hello(2 ** 17));
    // A record without contents, again and again, never becomes a message.
    await send(
      Buffer.concat(Array.from({ length: HELLO_BYTES / 5 + 1 }, () => Buffer.from("1603010000", "hex"))),
    );
    await send(hello(2000), 2000 / (2 * HELLO_PIECES));
    const serverHello = hello(100);
    serverHello[5] = 2;
    await send(serverHello);
    expect(rejections).toEqual(Array(4).fill("handshake"));
    expect(warnings).toEqual(["first message too large", "first message in too many pieces", "not TLS"]);
  });
});

describe("a handshake", () => {
  it("of an old version, or without a common cipher suite, is refused in words", async () => {
    const { server, rejections, warnings } = await aTlsServer(certificate);
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" } as const;
    for (const options of [old, old, { maxVersion: "TLSv1.2", ciphers: "AES256-GCM-SHA384" } as const])
      expect(await ask(server, certificate, options)).toMatch(/^error/);
    expect(rejections).toEqual(["handshake", "handshake", "handshake"]);
    expect(warnings).toEqual([
      "the client offers no version of TLS that is accepted here",
      "the client offers no cipher suite that is accepted here",
    ]);
  });

  it("counts once, also when it was too slow or the client gives it up", async () => {
    const arrivalTimes = ARRIVAL_TIMES;
    const { server, rejections, warnings } = await aTlsServer(certificate, {}, [], { arrivalTimes });
    const timeouts = takeTimeouts();
    const [slow, gone, probe] = await Promise.all([connected(server), connected(server), connected(server)]);
    slow.write(hello(200).subarray(0, 20));
    gone.write(await aHello());
    await once(gone, "data");
    gone.destroy();
    probe.destroy();
    await expect.poll(() => rejections).toEqual(["handshake"]);
    const ended = textUntilClosed(slow);
    await timeouts.advanceBy(ARRIVAL_TIMES.handshakeMs);
    await ended;
    await expect.poll(() => rejections).toEqual(["handshake", "handshake"]);
    expect(warnings).toEqual(["too slow"]);
  });

  it("of a host is kept out by no number of others", async () => {
    const { server, rejections } = await aTlsServer(certificate, {}, []);
    const first = await aHello();
    const hosts = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
    const open: net.Socket[] = [];
    for (let one = 0; one < 2 * HANDSHAKES; one++) {
      const socket = await connected(server, hosts[one % hosts.length]);
      socket.write(first);
      socket.resume();
      open.push(socket);
    }
    expect(await ask(server, certificate)).toBe(ANSWERED);
    await expect
      .poll(() => open.filter(({ destroyed }) => !destroyed).length)
      .toBeLessThanOrEqual(HANDSHAKES);
    expect(rejections.length).toBeGreaterThan(HANDSHAKES / 2);
    expect(server.connectionCount).toBeLessThanOrEqual(1);
    for (const socket of open) socket.destroy();
  });

  it("does not wait for its turn when its client is gone, or another one needs its place", async () => {
    const clock = createHandClock(0);
    const time = createHandshakeTime(clock);
    const { server, rejections, warnings } = await aTlsServer(certificate, {}, [], { handshakeTime: time });
    time.spend(1000);
    const first = await aHello();
    const open: net.Socket[] = [];
    for (let one = 0; one < 2 * HANDSHAKES_PER_HOST; one++) {
      const socket = await connected(server, "127.0.0.2");
      socket.write(first);
      socket.resume();
      open.push(socket);
    }
    // No further turn comes while this clock stands still, but the alarm for it.
    await expect.poll(() => rejections.length).toBe(HANDSHAKES_PER_HOST);
    expect(clock.nextAlarmMs).toBeGreaterThan(0);
    for (const socket of open) socket.destroy();
    await expect.poll(() => rejections.length).toBe(2 * HANDSHAKES_PER_HOST);
    expect(clock.nextAlarmMs).toBeUndefined();
    // None was ended by its deadline.
    expect(warnings).toEqual(["too many handshakes at one time"]);
  });

  it("has a limit for each host, except for a proxy", async () => {
    const own = await aTlsServer(certificate, {}, []);
    const shared = await aTlsServer(certificate, {}, ["127.0.0.1"]);
    for (const { server, rejections } of [own, shared]) {
      const open: net.Socket[] = [];
      for (let one = 0; one < HANDSHAKES_PER_HOST + 8; one++) open.push(await connected(server));
      await expect.poll(() => rejections.length).toBe(server === own.server ? 8 : 0);
      expect(await ask(server, certificate)).toBe(ANSWERED);
      for (const socket of open) socket.destroy();
    }
  });
});

describe("a secure connection", () => {
  const request = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

  /** More than an address may send: 40 ms of the thread, and a record that could be on its way. */
  const TOO_MANY = 5_000;
  /** Three times as many are too many when they come together; twice as many are not. */
  const NOT_ENOUGH = 1_300;
  const from = (localAddress: string): tls.ConnectionOptions => ({ localAddress }) as tls.ConnectionOptions;

  it("ends when its client asks for new keys again and again, and its address is shut out", async () => {
    // An address may send more by the time: none of it passes.
    takeTimeouts();
    const { server, rejections, warnings } = await aTlsServer(certificate, {}, []);
    const client = await aKeyUpdater({ port: server.port, localAddress: "127.0.0.2" }, request);
    const { closed } = client;
    client.socket.write(client.records(TOO_MANY));
    await closed;
    expect(rejections).toEqual(["handshake"]);
    expect(warnings).toEqual(["more messages of TLS than content"]);
    expect(await ask(server, certificate, from("127.0.0.2"))).toMatch(/^error/);
    expect(await ask(server, certificate)).toBe(ANSWERED);
  });

  itIfThorough(
    "answers for all of its address, also when it ends by itself, but behind a proxy for itself alone",
    async () => {
      takeTimeouts();
      const { server, rejections } = await aTlsServer(certificate, {}, ["127.0.0.3"]);
      const flood = async (localAddress: string): Promise<void> => {
        const clients = await Promise.all(
          Array.from({ length: 3 }, () => aKeyUpdater({ port: server.port, localAddress }, request)),
        );
        for (const { socket, records } of clients) socket.end(records(NOT_ENOUGH));
        await Promise.all(clients.map(({ closed }) => closed));
      };
      await flood("127.0.0.3");
      expect(await ask(server, certificate, from("127.0.0.3"))).toBe(ANSWERED);
      // A client sees the end of its connection before the server has charged it.
      await expect.poll(() => server.connectionCount).toBe(0);
      expect(rejections).toEqual([]);
      await flood("127.0.0.2");
      await expect.poll(() => rejections).toContain("handshake");
      expect(await ask(server, certificate, from("127.0.0.2"))).toMatch(/^error/);
    },
  );

  it("may have new keys now and then, content in many small records, and a large record that comes slowly", async () => {
    const { server, rejections } = await aTlsServer(certificate, {}, []);
    const careful = await aKeyUpdater({ port: server.port }, request);
    careful.socket.write(careful.records(500));
    // The records of this suite have the most that is no content, and 6 bytes are the answer to a ping.
    const small = tls.connect({
      port: server.port,
      host: "127.0.0.1",
      ca: certificate.certificate,
      maxVersion: "TLSv1.2",
      ciphers: "ECDHE-ECDSA-AES256-SHA384",
    });
    small.setNoDelay();
    const text = " ".repeat(1000) + BODY;
    for (let count = 0; count < 3; count++) {
      small.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n`);
      // Each is a record when it does not wait for the one before.
      for (let at = 0; at < text.length; at += 6)
        await new Promise((resolve) => small.write(text.slice(at, at + 6), resolve));
      expect(String((await once(small, "data"))[0])).toMatch(/^HTTP\/1.1 200/);
    }
    const slow = await slowUploads(server, 20);
    // Another one ends at a check, which finds nothing about these.
    const greedy = await aKeyUpdater({ port: server.port, localAddress: "127.0.0.2" }, request);
    const { closed } = greedy;
    greedy.socket.write(greedy.records(TOO_MANY));
    await closed;
    expect(rejections).toEqual(["handshake"]);
    expect(await Promise.all(slow.map((finish) => finish()))).toEqual(slow.map(() => "HTTP/1.1 200 OK"));
    expect([careful.socket.destroyed, small.destroyed]).toEqual([false, false]);
    careful.socket.destroy();
    small.destroy();
  });
});

/** Uploads whose last record has come but for a few bytes; each returned function sends these, and gives the answer's first line. */
async function slowUploads(server: RpcServer, count: number): Promise<readonly (() => Promise<string>)[]> {
  const body = " ".repeat(16_000) + BODY;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = await connected(server);
      let isHolding = false;
      let held = Buffer.alloc(0);
      const stream = new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => {
          if (isHolding) held = Buffer.concat([held, chunk]);
          else socket.write(chunk);
          done();
        },
      });
      socket.on("data", (bytes: Buffer) => stream.push(bytes));
      const secure = tls.connect({ socket: stream, ca: certificate.certificate, servername: "localhost" });
      await once(secure, "secureConnect");
      await new Promise((resolve) =>
        secure.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`, resolve),
      );
      isHolding = true;
      await new Promise((resolve) => secure.write(body, resolve));
      const late = held.subarray(-10);
      await new Promise<void>((resolve) => socket.write(held.subarray(0, -10), () => resolve()));
      return async () => {
        socket.write(late);
        const [answer] = (await once(secure, "data")) as [Buffer];
        socket.destroy();
        return answer.toString().split("\r\n")[0] ?? "";
      };
    }),
  );
}

describe("the certificate of a client", () => {
  const DAY_MS = 86_400_000;
  const rules = (more = {}) => ({ clients: { known: [], authorities: authority.certificate, ...more } });
  const own = ({ key, certificate: cert }: Pick<TlsFiles, "key" | "certificate">) => ({ key, cert });

  it("is refused for what is wrong with it, in words", async () => {
    const { server, rejections, warnings } = await aTlsServer(certificate, rules());
    const now = Date.now();
    const cases: readonly (readonly [client: TlsFiles, reason: string])[] = [
      [
        aSignedCertificate("old", authority, {
          from: new Date(now - 2 * DAY_MS),
          until: new Date(now - DAY_MS),
        }),
        "it has expired",
      ],
      [
        aSignedCertificate("young", authority, {
          from: new Date(now + DAY_MS),
          until: new Date(now + 2 * DAY_MS),
        }),
        "it is not valid yet",
      ],
      [
        aSignedCertificate("server", authority, { usage: "serverAuth" }),
        "its extended key usage is not that of a client",
      ],
      [aCertificateFor("self"), "it is not signed by an accepted authority"],
      [aCertificateFor("other", aCertificateFor("authority")), "it is not signed by an accepted authority"],
    ];
    for (const [client] of cases)
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
        expect(await ask(server, certificate, { ...own(client), maxVersion })).toMatch(/^error/);
    expect(rejections).toEqual(cases.flatMap(() => ["certificate", "certificate"]));
    expect(warnings).toEqual(cases.map(([, reason]) => reason));
    expect(await ask(server, certificate, own(aSignedCertificate("good", authority)))).toBe(ANSWERED);
  });

  it.each(["Firma, GmbH", "José", 'a+b "c"'])("is known by the common name %s", async (commonName) => {
    const client = aCertificateFor(commonName);
    const known = [{ commonName, fingerprint: client.fingerprint }];
    const { server } = await aTlsServer(certificate, rules({ known, authorities: undefined }));
    expect(await ask(server, certificate, own(client))).toBe(ANSWERED);
  });

  itIfThorough("is checked anew with each connection, so that none outlives its date", async () => {
    const { server } = await aTlsServer(certificate, rules());
    const client = aSignedCertificate("long", authority);
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const first = await converse(server, { ...own(client), maxVersion });
      expect(first.text).toMatch(/^HTTP\/1.1 200/);
      const next = await converse(server, { ...own(client), maxVersion, session: first.session });
      expect(next.isReused).toBe(false);
    }
    // A busy machine takes longer to use a certificate than one of few seconds is valid.
    for (let seconds = 2, isUsed = false; !isUsed; seconds *= 2) {
      const untilMs = Math.ceil(Date.now() / 1000 + seconds) * 1000;
      const dates = { from: new Date(untilMs - DAY_MS), until: new Date(untilMs) };
      const short = own(aSignedCertificate("short", authority, dates));
      isUsed = (await ask(server, certificate, short)) === ANSWERED;
      await expect.poll(() => ask(server, certificate, short), { interval: 200 }).toMatch(/^error/);
    }
  });

  it("comes with few others: many of them shut an address out for a minute, but no proxy", async () => {
    const { server, rejections, warnings } = await aTlsServer(certificate, rules(), ["127.0.0.3"]);
    const client = aSignedCertificate("good", authority);
    const copies = Math.ceil(CERTIFICATES_BYTES / 300);
    const many = { key: client.key, cert: client.certificate + authority.certificate.repeat(copies) };
    for (const localAddress of ["127.0.0.2", "127.0.0.3"])
      expect(await ask(server, certificate, { ...many, localAddress } as tls.ConnectionOptions)).toMatch(
        /^error/,
      );
    expect(warnings).toEqual([expect.stringMatching(/^\d+ bytes of certificates, more than 16384$/)]);
    const one = (localAddress: string) =>
      ask(server, certificate, { ...own(client), localAddress } as tls.ConnectionOptions);
    expect(await one("127.0.0.2")).toMatch(/^error/);
    expect(await one("127.0.0.3")).toBe(ANSWERED);
    expect(await one("127.0.0.1")).toBe(ANSWERED);
    expect(rejections).toEqual(["certificate", "certificate", "handshake"]);
  });
});

/** The beginning of a first message of so many bytes, with its length, in one record or more. */
function hello(length: number): Buffer {
  const message = Buffer.alloc(length);
  message[0] = 1;
  message.writeUIntBE(length - 4, 1, 3);
  const records: Buffer[] = [];
  for (let at = 0; at < length; at += 16_000) {
    const part = message.subarray(at, at + 16_000);
    const header = Buffer.from("1603010000", "hex");
    header.writeUInt16BE(part.length, 3);
    records.push(header, part);
  }
  return Buffer.concat(records);
}

/** A first message as Node.js sends it. */
async function aHello(): Promise<Buffer> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  const client = tls.connect({ port, host: "127.0.0.1" });
  client.on("error", () => undefined);
  const [accepted] = (await once(server, "connection")) as [net.Socket];
  const [bytes] = (await once(accepted, "data")) as [Buffer];
  client.destroy();
  accepted.destroy();
  server.close();
  return bytes;
}

/** Sends what is written in pieces of a hundred bytes. */
function inPieces(socket: net.Socket): net.Socket {
  socket.setNoDelay();
  const write = socket.write.bind(socket) as (bytes: Uint8Array) => boolean;
  socket.write = ((bytes: Uint8Array, ...rest: unknown[]) => {
    for (let at = 0; at < bytes.length; at += 100) write(bytes.subarray(at, at + 100));
    const done = rest.at(-1);
    if (typeof done === "function") done();
    return true;
  }) as net.Socket["write"];
  return socket;
}

async function askOver(socket: net.Socket): Promise<string> {
  const secure = tls.connect({ socket, ca: certificate.certificate, servername: "localhost" });
  secure.on("error", () => undefined);
  secure.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
  const text = await Promise.race([
    once(secure, "data").then(([bytes]) => String(bytes)),
    once(secure, "close").then(() => "closed"),
  ]);
  secure.destroy();
  return text.split("\r\n", 1)[0] ?? "";
}

async function converse(server: RpcServer, options: tls.ConnectionOptions) {
  const socket = tls.connect({
    port: server.port,
    host: "127.0.0.1",
    ca: certificate.certificate,
    ...options,
  });
  let session: Buffer | undefined;
  socket.on("session", (bytes: Buffer) => {
    session = bytes;
  });
  socket.on("error", () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  const isReused = socket.isSessionReused();
  socket.destroy();
  return { text: String(bytes), session, isReused };
}
