/**
 * A signer with Web3Signer's API of secp256k1 keys, as a process of its own: `--keystore`, `--password`, `--port` (0: any), and for
 * TLS `--tls-key` and `--tls-cert`. It shares no code with the node, signs keccak256 of the data, and prints its port.
 * POST /test/mode has it misbehave; GET /test/figures tells what it was asked.
 */
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { parseArgs } from "node:util";
import { Wallet } from "@ethereumjs/wallet";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";

const { values } = parseArgs({
  options: {
    keystore: { type: "string" },
    password: { type: "string" },
    port: { type: "string", default: "0" },
    "tls-key": { type: "string" },
    "tls-cert": { type: "string" },
  },
});

const password = readFileSync(values.password, "utf8").split("\n")[0];
const wallet = await Wallet.fromV3(readFileSync(values.keystore, "utf8"), password);
const privateKey = wallet.getPrivateKey();
const publicKey = `0x${Buffer.from(secp256k1.getPublicKey(privateKey, false).subarray(1)).toString("hex")}`;
const OTHER_KEY = new Uint8Array(32).fill(7);

/** What it does to be tested: nothing by default. */
let mode = { kind: "sign" };
const figures = { signatures: 0, requests: 0, atOnce: 0, mostAtOnce: 0, largestBytes: 0, data: [] };

function sign(data, key) {
  const bytes = secp256k1.sign(keccak_256(data), key, { prehash: false, format: "recovered" });
  const [recovery, ...rs] = bytes;
  let s = BigInt(`0x${Buffer.from(rs.slice(32)).toString("hex")}`);
  let parity = recovery;
  if (mode.kind === "highS") {
    s = secp256k1.Point.Fn.ORDER - s;
    parity = 1 - recovery;
  }
  const v = mode.kind === "smallV" ? parity : 27 + parity;
  const text = `${Buffer.from(rs.slice(0, 32)).toString("hex")}${s.toString(16).padStart(64, "0")}`;
  return `0x${text}${v.toString(16).padStart(2, "0")}`;
}

async function answerSignature(identifier, body) {
  if (mode.kind === "hang") return undefined;
  if (mode.kind === "slow") await new Promise((resolve) => setTimeout(resolve, mode.ms));
  if (mode.kind === "busy") return { status: 500, text: "Internal Server Error" };
  if (mode.kind === "forbidden") return { status: 403, text: '{"message":"Host not authorized."}' };
  if (mode.kind === "large") return { status: 200, text: "0x".padEnd(10_000_000, "0") };
  if (mode.kind === "garbage") return { status: 200, text: "<html>welcome</html>" };
  const asked = identifier.toLowerCase().replace(/^(0x)?/, "0x");
  if (mode.kind === "lacksKey" || asked !== publicKey) return { status: 404, text: "Resource not found" };
  const { data } = JSON.parse(body);
  if (typeof data !== "string" || !/^(0x)?([0-9a-f]{2})+$/i.test(data))
    return { status: 400, text: "Bad Request" };
  figures.signatures += 1;
  if (figures.data.length < 1_000) figures.data.push(data);
  const bytes = Buffer.from(data.replace(/^0x/, ""), "hex");
  return { status: 200, text: sign(bytes, mode.kind === "wrong" ? OTHER_KEY : privateKey) };
}

async function answer(request, body) {
  const { method, url } = request;
  if (method === "GET" && url === "/upcheck")
    return mode.kind === "hang" ? undefined : { status: 200, text: "OK" };
  if (method === "GET" && url === "/api/v1/eth1/publicKeys") {
    if (mode.kind === "forbidden") return { status: 403, text: '{"message":"Host not authorized."}' };
    return { status: 200, text: JSON.stringify(mode.kind === "lacksKey" ? [] : [publicKey]) };
  }
  if (method === "POST" && url.startsWith("/api/v1/eth1/sign/"))
    return answerSignature(url.split("/").at(-1), body);
  if (method === "POST" && url === "/test/mode") {
    mode = JSON.parse(body);
    return { status: 200, text: "" };
  }
  if (method === "GET" && url === "/test/figures") return { status: 200, text: JSON.stringify(figures) };
  return { status: 404, text: "Resource not found" };
}

function serve(request, response) {
  const isTest = request.url.startsWith("/test/");
  const pieces = [];
  if (!isTest) {
    figures.requests += 1;
    figures.atOnce += 1;
    figures.mostAtOnce = Math.max(figures.mostAtOnce, figures.atOnce);
    response.once("close", () => {
      figures.atOnce -= 1;
    });
  }
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", async () => {
    const body = Buffer.concat(pieces).toString("utf8");
    if (!isTest) figures.largestBytes = Math.max(figures.largestBytes, body.length);
    const answered = await answer(request, body);
    if (answered === undefined) return;
    response.statusCode = answered.status;
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(answered.text);
  });
}

const server =
  values["tls-key"] === undefined
    ? http.createServer(serve)
    : https.createServer(
        { key: readFileSync(values["tls-key"]), cert: readFileSync(values["tls-cert"]) },
        serve,
      );
server.listen({ host: "127.0.0.1", port: Number(values.port) }, () => {
  console.log(`port ${server.address().port}`);
});
