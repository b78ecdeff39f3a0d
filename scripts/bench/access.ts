import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { type Contender, startProgram } from "./contenders.ts";
import { openHttpRequester, type RequesterOptions } from "./httpRequester.ts";
import { measureAsking } from "./measureAsking.ts";

const CONNECTIONS = 16;
const WARM_UP_SECONDS = 1;
const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}';

/**
 * What tokens and TLS cost: `eth_blockNumber` over HTTP with both off, with each, and with both, and new connections with one
 * request each.
 */
export async function measureAccess(seconds: number, threads: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-access-"));
  const files = makeFiles(folder);
  const token = await new SignJWT({ permissions: ["eth:*"] })
    .setProtectedHeader({ alg: "RS256" })
    .setExpirationTime("1 hour")
    .sign(files.issuer);
  console.log(`\neth_blockNumber over HTTP, ${CONNECTIONS} connections, ${threads} threads for callers`);
  for (const [name, hasTokens, isSecure] of [
    ["open", false, false],
    ["tokens", true, false],
    ["TLS", false, true],
    ["tokens and TLS", true, true],
  ] as const) {
    const options = [
      ...["--logging=WARN", `--rpc-threads=${threads}`],
      ...(hasTokens ? files.tokenOptions : []),
      ...(isSecure ? files.tlsOptions : []),
    ];
    const data = join(folder, name.replaceAll(" ", ""));
    const node = await startProgram(data, options);
    try {
      const requester = { isSecure, token: hasTokens ? token : undefined };
      const asked = await askForSeconds(node, requester, seconds);
      const connected = await connectForSeconds(node, requester, Math.min(seconds, 5));
      console.log(
        `${name.padEnd(16)} ${Math.round(asked.perSecond)} requests/s, p99 ${asked.p99Ms.toFixed(2)} ms, ${asked.cpuMicroseconds.toFixed(0)} µs of CPU each; ${Math.round(connected.perSecond)} connections/s, ${connected.cpuMicroseconds.toFixed(0)} µs each`,
      );
    } finally {
      await node.stop();
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

function makeFiles(folder: string) {
  const [key, certificate, issuer] = ["key.pem", "certificate.pem", "issuer.pem"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
      ...["-keyout", key, "-out", certificate],
    ],
    { stdio: "ignore" },
  );
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(issuer, publicKey.export({ type: "spki", format: "pem" }));
  return {
    issuer: privateKey,
    tokenOptions: [
      "--rpc-http-authentication-enabled",
      `--rpc-http-authentication-jwt-public-key-file=${issuer}`,
    ],
    tlsOptions: [
      "--rpc-http-tls-enabled",
      `--rpc-http-tls-certificate-file=${certificate}`,
      `--rpc-http-tls-key-file=${key}`,
    ],
  };
}

async function askForSeconds(node: Contender, options: RequesterOptions, seconds: number) {
  const requesters = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openHttpRequester(node.port, options)),
  );
  const times = { warmUpSeconds: WARM_UP_SECONDS, seconds };
  return measureAsking(node, requesters, times, async (requester) => {
    const answer = await requester.ask(BODY);
    if (!answer.includes('"result"')) throw new Error(answer);
  });
}

/** New connections, with one request each. */
async function connectForSeconds(node: Contender, options: RequesterOptions, seconds: number) {
  const cpuBefore = node.cpuSeconds();
  const startedAtMs = performance.now();
  let count = 0;
  const keepConnecting = async (): Promise<void> => {
    while (performance.now() < startedAtMs + seconds * 1000) {
      const requester = await openHttpRequester(node.port, options);
      await requester.ask(BODY);
      requester.close();
      count++;
    }
  };
  await Promise.all(Array.from({ length: 8 }, keepConnecting));
  return {
    perSecond: (count * 1000) / (performance.now() - startedAtMs),
    cpuMicroseconds: ((node.cpuSeconds() - cpuBefore) * 1e6) / count,
  };
}
