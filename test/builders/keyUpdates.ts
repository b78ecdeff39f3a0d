import { createCipheriv, createHmac } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";

/** A connection of TLS 1.3 that was answered once, and records which follow what it sent, each with a request for new keys. */
export interface KeyUpdater {
  readonly socket: net.Socket;
  /** Resolves when the connection has ended, in whatever way. */
  readonly closed: Promise<void>;
  /** So many records, of 27 bytes each. */
  records(count: number): Buffer;
}

/**
 * Sends `request` over a connection of its own, and waits for the answer; fails when the connection ends before. Node.js has no
 * call for KeyUpdate (RFC 8446, 4.6.3).
 */
export async function aKeyUpdater(
  to: { readonly port: number; readonly localAddress?: string } & Pick<tls.ConnectionOptions, "key" | "cert">,
  request: string,
): Promise<KeyUpdater> {
  const socket = net.connect({ port: to.port, host: "127.0.0.1", localAddress: to.localAddress });
  socket.on("error", () => undefined);
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, () => done()),
  });
  socket.on("data", (bytes: Buffer) => stream.push(bytes));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const secure = tls.connect({
    socket: stream,
    rejectUnauthorized: false,
    minVersion: "TLSv1.3",
    ciphers: "TLS_AES_128_GCM_SHA256",
    key: to.key,
    cert: to.cert,
  });
  let secret: Buffer = Buffer.alloc(0);
  secure.on("keylog", (line: Buffer) => {
    const [label, , hex = ""] = line.toString().trim().split(" ");
    if (label === "CLIENT_TRAFFIC_SECRET_0") secret = Buffer.from(hex, "hex");
  });
  secure.on("error", () => undefined);
  secure.write(request);
  await Promise.race([once(secure, "data"), closed]);
  if (socket.destroyed) throw new Error("the connection ended");
  socket.removeAllListeners("data");
  socket.resume();
  /** Number of the next record under the secret, after those of the request. */
  let sequence = Math.ceil(Buffer.byteLength(request) / RECORD_CONTENT);
  return {
    socket,
    closed,
    records: (count) =>
      Buffer.concat(
        Array.from({ length: count }, () => {
          const record = keyUpdate(secret, sequence);
          secret = expand(secret, "traffic upd", 32);
          sequence = 0;
          return record;
        }),
      ),
  };
}

/** Bytes of content in a record at most. */
const RECORD_CONTENT = 2 ** 14;

/** The record: a handshake message that asks the other side for new keys, too (update_requested). */
function keyUpdate(secret: Buffer, sequence: number): Buffer {
  const iv = expand(secret, "iv", 12);
  iv.writeUInt16BE(iv.readUInt16BE(10) ^ sequence, 10);
  const header = Buffer.from("1703030016", "hex");
  const cipher = createCipheriv("aes-128-gcm", expand(secret, "key", 16), iv);
  cipher.setAAD(header);
  const body = Buffer.concat([cipher.update(Buffer.from("180000010116", "hex")), cipher.final()]);
  return Buffer.concat([header, body, cipher.getAuthTag()]);
}

/** HKDF-Expand-Label without a context, of at most one hash (RFC 8446, 7.1). */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
  return createHmac("sha256", secret).update(info).digest().subarray(0, length);
}
