import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest";
import { CONNECTIONS_LIMIT, SEARCH_MS } from "../../../src/node/signer/limits.ts";
import { openSigner, type RemoteValidator } from "../../../src/node/signer/openSigner.ts";
import { METRIC_CATEGORIES } from "../../../src/observability/categories.ts";
import { Metrics } from "../../../src/observability/registry.ts";
import { metricsText } from "../../../src/observability/textFormat.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { type Clock, durationClock } from "../../../src/primitives/clock.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve, sign } from "../../../src/primitives/secp256k1.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { freePort, temporaryFolder, until } from "../../cluster/harness/nodeProcess.ts";
import { type SignerProcess, startSignerProcess, type TlsFiles } from "../../signer/signerProcess.ts";

const KEY = accountFromSeed(77);
const PUBLIC_KEY = curve.publicKey(KEY.privateKey);
const PREIMAGE = new TextEncoder().encode("what is signed");
const REQUEST = { digest: keccak256(PREIMAGE), preimage: PREIMAGE };

const opened: { close(): void }[] = [];
let shared: SignerProcess | undefined;

afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

afterAll(() => shared?.kill());

/** One process for all tests, which runs and is well: to start another one takes most of a second. */
async function aProcess(): Promise<SignerProcess> {
  shared ??= await startSignerProcess(KEY.privateKey);
  const { exitCode, signalCode } = shared.child;
  if (exitCode !== null || signalCode !== null) await shared.restart();
  await shared.setMode({ kind: "sign" });
  return shared;
}

async function open(
  url: string,
  change: {
    readonly caFile?: string;
    readonly publicKey?: Uint8Array;
    readonly metrics?: Metrics;
    readonly clock?: Clock;
    readonly requestTimeoutSeconds?: number;
    readonly nodeAddress?: Address;
  } = {},
) {
  const { logger, lines } = loggedLines();
  const { metrics, clock = durationClock, requestTimeoutSeconds = 2, ...rest } = change;
  const { nodeAddress = KEY.address, ...settings } = rest;
  const result = await openSigner(
    { url: new URL(url), publicKey: PUBLIC_KEY, ...settings },
    { nodeAddress, requestTimeoutSeconds, clock, logger, metrics },
  );
  if (result.ok) opened.push(result.value);
  return { result, lines };
}

async function openWell(url: string, change: Parameters<typeof open>[1] = {}) {
  const { result, lines } = await open(url, change);
  if (!result.ok) throw new Error(result.error.message);
  return { validator: result.value, lines };
}

const NEVER = new AbortController().signal;

const failureOf = (validator: RemoteValidator) => async () => validator.health().failure?.reason;

describe("a remote signer", () => {
  it("signs the preimage, and its signature is that of a key of our own", async () => {
    const remote = await aProcess();
    const { validator } = await openWell(remote.url);
    expect(toHex(validator.address)).toBe(toHex(KEY.address));
    expect(await validator.signer.sign(REQUEST, NEVER)).toEqual(sign(REQUEST.digest, KEY.privateKey));
    expect((await remote.figures()).data).toEqual([toHex(PREIMAGE)]);
    expect(validator.health()).toMatchObject({ last: { tookMs: expect.any(Number) } });
  });

  it("may write v as 0 or 1, and s in its upper half: what is used is the same", async () => {
    const remote = await aProcess();
    const { validator } = await openWell(remote.url);
    for (const kind of ["smallV", "highS"] as const) {
      await remote.setMode({ kind });
      expect(await validator.signer.sign(REQUEST, NEVER)).toEqual(sign(REQUEST.digest, KEY.privateKey));
    }
  });

  it.each([
    ["wrong", `its signature is not that of ${toHex(KEY.address)}`],
    ["busy", "it answers with status 500"],
    ["forbidden", "it answers with status 403"],
    ["lacksKey", "it does not hold the key (status 404)"],
    ["garbage", "its answer is not a signature"],
    ["large", "its answer is longer than 1024 bytes"],
    ["hang", "it does not answer within 250 ms"],
  ] as const)("that is %s is told, asked again, and used when it is well", async (kind, reason) => {
    const remote = await aProcess();
    const metrics = new Metrics(
      { categories: new Set(METRIC_CATEGORIES), hasTimers: true },
      { clock: durationClock, stopwatchMs: durationClock.nowMs },
    );
    // An eighth of the round is for an answer: only where none comes may time decide.
    const requestTimeoutSeconds = kind === "hang" ? 2 : 8 * 60;
    const { validator, lines } = await openWell(remote.url, { metrics, requestTimeoutSeconds });
    await remote.setMode({ kind });
    const signed = validator.signer.sign(REQUEST, NEVER);
    expect(await until(failureOf(validator), "the failure")).toBe(reason);
    const warnings = lines.filter(({ message }) => message.includes("does not sign"));
    expect(metricsText(await metrics.collect())).toMatch(/^bft_signer_failing 1/m);
    expect(warnings).toMatchObject([
      { reason, message: expect.stringContaining("neither proposes nor votes") },
    ]);
    await remote.setMode({ kind: "sign" });
    expect(await signed).toEqual(sign(REQUEST.digest, KEY.privateKey));
    expect(validator.health().failure).toBeUndefined();
    expect(lines.map(({ message }) => message)).toContain("the remote signer is signing again");
  });

  it("that is killed and comes back signs again, over new connections", async () => {
    const remote = await aProcess();
    const { validator } = await openWell(remote.url);
    await validator.signer.sign(REQUEST, NEVER);
    await remote.kill();
    const signed = validator.signer.sign(REQUEST, NEVER);
    expect(await until(failureOf(validator), "the failure")).toContain("ECONNREFUSED");
    await remote.restart();
    expect(await signed).toEqual(sign(REQUEST.digest, KEY.privateKey));
  });

  it("is asked no more once the round is over, and never by more connections than the limit", async () => {
    const remote = await aProcess();
    const { validator } = await openWell(remote.url);
    await remote.setMode({ kind: "hang" });
    const round = new AbortController();
    const signatures = Array.from({ length: 20 }, () => validator.signer.sign(REQUEST, round.signal));
    await until(
      async () => ((await remote.figures()).mostAtOnce === CONNECTIONS_LIMIT ? true : undefined),
      "requests over all connections",
    );
    round.abort();
    expect(new Set(await Promise.all(signatures))).toEqual(new Set([undefined]));
    expect((await remote.figures()).mostAtOnce).toBe(CONNECTIONS_LIMIT);
    await remote.setMode({ kind: "sign" });
    expect(await validator.signer.sign(REQUEST, NEVER)).toBeDefined();
  });

  it("is not hammered while it fails: pauses grow", async () => {
    const remote = await aProcess();
    const pauses: number[] = [];
    const clock: Clock = {
      nowMs: durationClock.nowMs,
      at(atMs, action) {
        pauses.push(Math.round((atMs - durationClock.nowMs()) / 10) * 10);
        return durationClock.at(atMs, action);
      },
    };
    const { validator } = await openWell(remote.url, { clock });
    await remote.setMode({ kind: "busy" });
    const round = new AbortController();
    const signed = validator.signer.sign(REQUEST, round.signal);
    await until(async () => (pauses.length >= 5 ? true : undefined), "a few requests");
    round.abort();
    expect(pauses.slice(0, 5)).toEqual([20, 40, 80, 160, 320]);
    expect(await signed).toBeUndefined();
  });
});

describe("at the start, a remote signer", () => {
  it("that lacks the key is refused, with the key and the address", async () => {
    const remote = await aProcess();
    const publicKey = curve.publicKey(accountFromSeed(78).privateKey);
    const { result } = await open(remote.url, { publicKey });
    expect(result.ok || result.error.message).toContain(
      `it does not hold the key ${toHex(publicKey)} (of validator `,
    );
    expect(result.ok || result.error.message).toContain("among its 1 keys");
  });

  it("that forbids the host, or is another server, is refused", async () => {
    const remote = await aProcess();
    await remote.setMode({ kind: "forbidden" });
    const { result } = await open(remote.url);
    expect(result.ok || result.error.message).toContain("--http-host-allowlist");
    const { result: elsewhere } = await open(`${remote.url}/eth2`);
    expect(elsewhere.ok || elsewhere.error.message).toContain("web3signer eth1");
  });

  it("of another key than the node's is told of, because Besu sends such a node no consensus messages", async () => {
    const remote = await aProcess();
    const { lines: none } = await openWell(remote.url);
    expect(none.filter(({ level }) => level === "WARN")).toEqual([]);
    const nodeAddress = accountFromSeed(78).address;
    const { lines } = await openWell(remote.url, { nodeAddress });
    expect(lines.filter(({ level }) => level === "WARN")).toMatchObject([
      { node: toHex(nodeAddress), validator: toHex(KEY.address) },
    ]);
  });

  it("that is not there yet keeps nobody from starting, and is told and found later", async () => {
    const remote = await aProcess();
    await remote.kill();
    const clock = createHandClock(0);
    const { validator, lines } = await openWell(remote.url, { clock });
    expect(lines).toMatchObject([{ level: "WARN", reason: expect.stringContaining("ECONNREFUSED") }]);
    await remote.restart();
    clock.advanceBy(SEARCH_MS);
    await until(
      async () => (validator.health().failure === undefined ? true : undefined),
      "the signer's return",
    );
    expect(lines.map(({ message }) => message)).toContain("the remote signer is signing again");
  });

  it("is trusted over TLS by the given certificates only", async () => {
    const tls = aCertificate();
    const remote = await startSignerProcess(KEY.privateKey, tls);
    onTestFinished(() => remote.kill());
    const { validator } = await openWell(remote.url, { caFile: tls.certificate });
    expect(await validator.signer.sign(REQUEST, NEVER)).toEqual(sign(REQUEST.digest, KEY.privateKey));
    const { lines } = await openWell(remote.url);
    expect(lines).toMatchObject([
      { level: "WARN", reason: expect.stringContaining("self-signed certificate") },
    ]);
  });

  it("whose certificates cannot be read is refused", async () => {
    const { result } = await open(`https://127.0.0.1:${await freePort()}`, { caFile: "/nowhere/ca.pem" });
    expect(result.ok || result.error.message).toContain(
      "The certificates of the remote signer, /nowhere/ca.pem",
    );
    const caFile = join(temporaryFolder(), "ca.pem");
    for (const [content, words] of [
      ["", "there is no certificate (PEM) in the file"],
      ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be used: "],
    ] as const) {
      writeFileSync(caFile, content);
      const { result: broken } = await open(`https://127.0.0.1:${await freePort()}`, { caFile });
      expect(broken.ok || broken.error.message).toContain(words);
    }
  });
});

/** For 127.0.0.1, signed by itself. */
function aCertificate(): TlsFiles {
  const folder = temporaryFolder();
  const files = { key: join(folder, "key.pem"), certificate: join(folder, "certificate.pem") };
  execFileSync(
    "openssl",
    [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=signer".split(
        " ",
      ),
      ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", files.key, "-out", files.certificate],
    ],
    { stdio: "ignore" },
  );
  return files;
}
