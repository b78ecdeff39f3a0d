import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { createCandidate } from "../../../src/ibft/candidate.ts";
import { encodeMessage, signPayload } from "../../../src/ibft/codec/encoding.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { addressOfPrivateKey, curve, sign } from "../../../src/primitives/secp256k1.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { type Line, openSlowLink, type SlowLink } from "../../builders/slowLink.ts";
import { aCandidate, aGenesisHead } from "../../builders/toyChain.ts";
import { itIfThorough } from "../../thorough.ts";
import { callAsHostile, IBF } from "../harness/hostilePeer.ts";
import { logOf, type NodeProcess, pause, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { CHAIN_ID, type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/*
 * Four validators, and blocks or messages of many megabytes: no honest connection is cut, and the chain goes on.
 */

const LARGEST = "--max-block-bytes=9437184";
/** 12 MB in total, more than one block. */
const BULKY_TRANSACTIONS = 100;
const BULKY_BYTES = 120_000;

let network: ValidatorNetwork;
const links: SlowLink[] = [];

afterEach(async () => {
  await network.stopAll();
  for (const link of links.splice(0)) link.close();
});

describe("four validators", () => {
  itIfThorough("agree on 12 MB of transactions in blocks of 9 MiB", async () => {
    const nodes = await start({ options: [LARGEST] });
    await mineBulky(nodes);
    await goOn(nodes);
    expect(linksLost(nodes)).toEqual([]);
  });

  itIfThorough("agree on them when one is behind lines of 10 Mbit/s and 100 ms", async () => {
    const nodes = await start({ options: [LARGEST], line: { bitsPerSecond: 10e6, delayMs: 100 } });
    await mineBulky(nodes);
    await goOn(nodes);
    expect(linksLost(nodes)).toEqual([]);
  });

  itIfThorough("go on while one sends a new Proposal of 9 MB each second to one node", async () => {
    const nodes = await start({ honest: 3 });
    const [target, faulty] = [network.members[0], network.members[3]];
    if (target === undefined || faulty === undefined) throw new Error("there are four");
    const key = faulty.key.privateKey;
    const peer = callAsHostile(
      { nodeId: nodeIdOf(target), host: "127.0.0.1", tcpPort: target.peerPort },
      { privateKey: key, nodeId: curve.publicKey(key) },
    );
    expect(await peer.isGreeted).toBe(true);
    const own = new OwnTime(...nodes);
    const first = await heightOf(nodes[0]);
    for (let count = 0; count < 10; count++) {
      const height = (await heightOf(nodes[0])) + 1;
      peer.send(...largeProposal(faulty, BigInt(height), count));
      await pause(1_000);
    }
    peer.socket.destroy();
    // The faulty validator is the proposer of every fourth block, which takes a second round: four blocks come in eight seconds.
    const least = own.leastBlocks(2000);
    expect((await heightOf(nodes[0])) - first).toBeGreaterThanOrEqual(least);
    await goOn(nodes);
    const faultyAddress = toHex(faulty.key.address);
    expect(linksLost(nodes).filter((line) => !line.includes(faultyAddress))).toEqual([]);
  });
});

async function start({
  options = [],
  line,
  honest = 4,
}: {
  readonly options?: readonly string[];
  readonly line?: Line;
  readonly honest?: number;
}): Promise<readonly NodeProcess[]> {
  network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 4, options });
  if (line !== undefined) await putBehind(line);
  await Promise.all(network.members.slice(0, honest).map((member) => network.start(member)));
  const nodes = network.members.flatMap(({ node }) => (node === undefined ? [] : [node]));
  for (const node of nodes)
    await until(
      async () => (Number(await node.rpc("net_peerCount")) === honest - 1 ? true : undefined),
      "all peers",
    );
  return nodes;
}

/** Puts slow lines between the last validator and all others. */
async function putBehind(line: Line): Promise<void> {
  const last = network.members.at(-1);
  if (last === undefined) throw new Error("there are four");
  for (const member of network.members.slice(0, -1)) {
    const [there, back] = [
      await openSlowLink(last.peerPort, line),
      await openSlowLink(member.peerPort, line),
    ];
    links.push(there, back);
    replacePort(member, last.peerPort, there.port);
    replacePort(last, member.peerPort, back.port);
  }
}

function replacePort({ dataPath }: Member, from: number, to: number): void {
  const file = join(dataPath, "static-nodes.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(`127.0.0.1:${from}`, `127.0.0.1:${to}`));
}

/** Sends the transactions to one node, the first nonce last, so that all wait at once, until all are mined. */
async function mineBulky(nodes: readonly NodeProcess[]): Promise<void> {
  let hash: unknown;
  for (let nonce = BULKY_TRANSACTIONS - 1; nonce >= 0; nonce--) {
    const raw = aTransaction({
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      gasLimit: 3_000_000n,
      data: randomBytes(BULKY_BYTES),
    }).raw;
    const sent = await nodes[0]?.rpc("eth_sendRawTransaction", [toHex(raw)]);
    hash ??= sent;
  }
  await until(
    async () => (await nodes[0]?.rpc("eth_getTransactionReceipt", [hash])) ?? undefined,
    "the last of the transactions",
  );
}

/** Waits until all nodes reach a new height. */
async function goOn(nodes: readonly NodeProcess[]): Promise<void> {
  const height = Math.max(...(await Promise.all(nodes.map(heightOf)))) + 4;
  for (const node of nodes)
    await until(
      async () => ((await heightOf(node)) >= height ? true : undefined),
      `block ${height} everywhere`,
    );
}

const heightOf = async (node: NodeProcess | undefined): Promise<number> =>
  Number(await node?.rpc("eth_blockNumber"));

/** Except the losing one of two crossing connections. */
function linksLost(nodes: readonly NodeProcess[]): string[] {
  return nodes.flatMap((node) =>
    logOf(node)
      .filter(({ message }) => message === "peer disconnected")
      .map((line) => JSON.stringify(line)),
  );
}

const nodeIdOf = ({ key }: Member): Uint8Array => curve.publicKey(key.privateKey);

const BULK = Array.from({ length: 75 }, (_, nonce) =>
  aTransaction({
    chainId: CHAIN_ID,
    nonce: BigInt(nonce),
    gasLimit: 3_000_000n,
    data: randomBytes(BULKY_BYTES),
  }),
);
const BULK_ROOT = rootOfList(BULK.map(({ raw }) => raw));

/** A well-formed, signed Proposal whose block has no known parent. */
function largeProposal({ key }: Member, height: bigint, count: number): [number, Uint8Array] {
  const signer = {
    self: addressOfPrivateKey(key.privateKey),
    sign: (digest: Uint8Array) => sign(digest, key.privateKey),
  };
  const { header, extra } = aCandidate(aGenesisHead([signer.self]), { mark: `${count}` });
  const candidate = createCandidate({ ...header, number: height, transactionsRoot: BULK_ROOT }, extra, BULK);
  const payload = { kind: "proposal", height, round: 0, digest: candidate.digest } as const;
  const { code, payload: bytes } = encodeMessage({
    kind: "proposal",
    signed: signPayload(signer, payload),
    candidate,
  });
  return [IBF + code, bytes];
}
