import { encodeFunctionData } from "viem";
import { afterEach, describe, expect } from "vitest";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account, accountFromSeed } from "../../builders/testAccounts.ts";
import { MODE, permissionRules } from "../../contracts/permissionRules.ts";
import { identity } from "../../network/identities.ts";
import { itIfThorough } from "../../thorough.ts";
import { callAsHostile } from "../harness/hostilePeer.ts";
import {
  type NodeProcess,
  type RpcFailure,
  runProgram,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

const { AccountRules, NodeRules, NodeRulesV2 } = permissionRules();
const ACCOUNT_RULES = `0x${"00".repeat(18)}8888`;
const ASKS_ACCOUNTS = [
  "--permissions-accounts-contract-enabled",
  `--permissions-accounts-contract-address=${ACCOUNT_RULES}`,
];
const NODE_RULES = `0x${"00".repeat(18)}9999`;
const ASKS_NODES = [
  "--permissions-nodes-contract-enabled",
  `--permissions-nodes-contract-address=${NODE_RULES}`,
];
const REFUSED = { code: -32007, message: "Sender account not authorized to send transactions" };
const OPERATOR = 0;

let network: ValidatorNetwork | undefined;
afterEach(() => network?.stopAll());

function from(who: number, changes: Parameters<typeof aTransaction>[0] = {}): SentTransaction {
  const { privateKey } = account(who);
  return aTransaction({ chainId: CHAIN_ID, gasPrice: 0n, value: 0n, privateKey, ...changes });
}

/** A transaction of the operator's that changes the rules of accounts. */
function toAccountRules(nonce: bigint, functionName: string, args: readonly unknown[]): SentTransaction {
  const data = hexToBytes(encodeFunctionData({ abi: AccountRules.abi, functionName, args }));
  return from(OPERATOR, { nonce, to: hexToBytes(ACCOUNT_RULES) as never, data });
}

const deny = (nonce: bigint, who: number, isDenied = true) =>
  toAccountRules(nonce, "setDenied", [toHex(account(who).address), isDenied]);

function send(node: NodeProcess, transaction: SentTransaction): Promise<unknown> {
  return node.rpc("eth_sendRawTransaction", [toHex(transaction.raw)]).catch((error: RpcFailure) => ({
    code: error.code,
    message: error.message,
  }));
}

function receiptOf(node: NodeProcess, { hash }: SentTransaction): Promise<unknown> {
  return node.rpc("eth_getTransactionReceipt", [toHex(hash)]);
}

async function mined(node: NodeProcess, transaction: SentTransaction): Promise<void> {
  await until(async () => (await receiptOf(node, transaction)) ?? undefined, "a receipt");
}

async function sendAndMine(node: NodeProcess, transaction: SentTransaction): Promise<void> {
  expect(await send(node, transaction)).toBe(toHex(transaction.hash));
  await mined(node, transaction);
}

async function heightOf(node: NodeProcess): Promise<number> {
  return Number(await node.rpc("eth_blockNumber"));
}

/** Waits for so many more blocks. */
async function blocksAfter(node: NodeProcess, count: number): Promise<void> {
  const start = await heightOf(node);
  await until(async () => ((await heightOf(node)) >= start + count ? true : undefined), `${count} blocks`);
}

describe("a validator that asks a contract of accounts", () => {
  async function aValidator(code: string = AccountRules.runtime): Promise<NodeProcess> {
    network = await prepareNetwork({
      validators: 1,
      contracts: { [ACCOUNT_RULES]: code },
      options: ASKS_ACCOUNTS,
    });
    const [node] = await network.startAll();
    if (node === undefined) throw new Error("there is one");
    return node;
  }

  itIfThorough("refuses what the contract denies, and takes it once it permits it", async () => {
    const node = await aValidator();
    await sendAndMine(node, from(1));
    await sendAndMine(node, deny(0n, 1));
    expect(await send(node, from(1, { nonce: 1n }))).toEqual(REFUSED);
    await sendAndMine(node, from(2));
    await sendAndMine(node, deny(1n, 1, false));
    await sendAndMine(node, from(1, { nonce: 1n }));
  });

  itIfThorough.each([
    ["reverts", MODE.reverts],
    ["loops, with gas without end", MODE.loops],
    ["answers 2", MODE.answersTwo],
  ])("goes on with empty blocks, and says so, when the contract %s", async (_, mode) => {
    const node = await aValidator();
    await sendAndMine(node, toAccountRules(0n, "misbehave", [mode]));
    expect(await send(node, from(1))).toMatchObject({ code: -32008 });
    await blocksAfter(node, 3);
    expect(node.output()).toContain("the account permissioning contract does not answer");
  });

  itIfThorough("takes callers' transactions while a peer sends thousands to ask about", async () => {
    const node = await aValidator();
    const [member] = network?.members ?? [];
    if (member === undefined) throw new Error("there is one");
    const { nodeKey, peerPort } = member;
    const at = { nodeId: curve.publicKey(nodeKey.privateKey), host: "127.0.0.1", tcpPort: peerPort };
    const peer = callAsHostile(at, identity(9));
    expect(await peer.isGreeted).toBe(true);
    // Gas is free, so anyone has enough to send one.
    const flood = Array.from({ length: 4000 }, (_, index) => {
      const { privateKey } = accountFromSeed(5000 + index);
      return aTransaction({ chainId: CHAIN_ID, gasPrice: 0n, value: 0n, gasLimit: 21_000n, privateKey });
    });
    for (let start = 0; start < flood.length; start += 500)
      peer.say({ kind: "transactions", transactions: flood.slice(start, start + 500) });
    for (let nonce = 0n; nonce < 5n; nonce++) await sendAndMine(node, from(1, { nonce }));
    for (const transaction of flood.slice(-3)) await mined(node, transaction);
    expect(peer.isGone()).toBe(false);
    peer.socket.destroy();
  });

  itIfThorough("does not start when the contract does not answer", async () => {
    const prepared = await prepareNetwork({
      validators: 1,
      contracts: { [ACCOUNT_RULES]: "0x60006000fd" },
    });
    const program = runProgram([
      `--data-path=${temporaryFolder()}`,
      `--genesis-file=${prepared.genesisFile}`,
      "--p2p-enabled=false",
      ...ASKS_ACCOUNTS,
    ]);
    expect(await program.exit).toBe(2);
    expect(program.output()).toContain(
      "Error validating onchain account permissioning smart contract configuration: Transaction permissioning transaction failed when processing",
    );
  });
});

describe("four validators that ask a contract of nodes", () => {
  itIfThorough.each([
    ["version 1", 1, NodeRules],
    ["version 2", 2, NodeRulesV2],
  ] as const)("part with a follower that it denies, and connect again, by %s", async (_, version, rules) => {
    network = await prepareNetwork({
      validators: 4,
      followers: 1,
      contracts: { [NODE_RULES]: rules.runtime },
      options: [...ASKS_NODES, `--permissions-nodes-contract-version=${version}`],
    });
    const { members } = network;
    const nodes = await network.startAll();
    const [first] = nodes;
    const [last, follower] = [members.at(-1), nodes.at(-1)];
    if (first === undefined || last === undefined || follower === undefined)
      throw new Error("there are five");
    const peersOf = async (node: NodeProcess) => Number(await node.rpc("net_peerCount"));
    const hasPeers = (node: NodeProcess, count: number) =>
      until(async () => ((await peersOf(node)) === count ? true : undefined), `${count} peers`);
    for (const node of nodes) await hasPeers(node, 4);
    const id = toHex(curve.publicKey(last.nodeKey.privateKey)).slice(2);
    const named = version === 1 ? `0x${id.slice(0, 64)}` : id;
    const setDenied = (nonce: bigint, isDenied: boolean): SentTransaction => {
      const args = [named, isDenied] as never;
      const data = hexToBytes(encodeFunctionData({ abi: rules.abi, functionName: "setDenied", args }));
      return from(OPERATOR, { nonce, to: hexToBytes(NODE_RULES) as never, data });
    };
    await sendAndMine(first, setDenied(0n, true));
    for (const node of nodes.slice(0, 4)) await hasPeers(node, 3);
    await hasPeers(follower, 0);
    await blocksAfter(first, 3);
    expect(await peersOf(follower)).toBe(0);
    await sendAndMine(first, setDenied(1n, false));
    // The follower has no newer state than that which denies it, and no bootnode: only a start lets it call its static nodes.
    expect(await follower.stop()).toBe(0);
    const restarted = await network.start(last);
    await hasPeers(first, 4);
    await mined(restarted, setDenied(1n, false));
    const misbehave = encodeFunctionData({
      abi: rules.abi,
      functionName: "misbehave",
      args: [MODE.reverts] as never,
    });
    const broken = from(OPERATOR, {
      nonce: 2n,
      to: hexToBytes(NODE_RULES) as never,
      data: hexToBytes(misbehave),
    });
    await sendAndMine(first, broken);
    await blocksAfter(first, 3);
    expect(await peersOf(first)).toBe(4);
    expect(first.output()).toContain("the node permissioning contract does not answer");
  });

  itIfThorough("do not start when the contract does not exist", async () => {
    const prepared = await prepareNetwork({ validators: 1 });
    const program = runProgram([
      `--data-path=${temporaryFolder()}`,
      `--genesis-file=${prepared.genesisFile}`,
      ...ASKS_NODES,
    ]);
    expect(await program.exit).toBe(2);
    expect(program.output()).toContain(
      `Error: node permissioning contract at address ${NODE_RULES} does not match the expected interface version 1.`,
    );
  });
});

describe("four validators that ask a contract of accounts", () => {
  itIfThorough("reject the blocks of one that does not ask, and go on", async () => {
    network = await prepareNetwork({ validators: 4, contracts: { [ACCOUNT_RULES]: AccountRules.runtime } });
    const { members } = network;
    const strict: NodeProcess[] = [];
    for (const member of members.slice(0, 3)) strict.push(await network.start(member, [], ASKS_ACCOUNTS));
    const [first] = strict;
    const [, , , last] = members;
    if (first === undefined || last === undefined) throw new Error("there are four");
    const lax = await network.start(last);
    await sendAndMine(first, deny(0n, 1));
    // The one that does not ask takes the transaction, and proposes blocks with it that nobody else accepts.
    const denied = from(1);
    expect(await send(lax, denied)).toBe(toHex(denied.hash));
    await blocksAfter(first, 8);
    expect(await receiptOf(first, denied)).toBe(null);
    expect(strict.map((node) => node.output()).join("")).toContain("is not on the Account Allowlist");
    await sendAndMine(first, deny(1n, 1, false));
    await mined(lax, denied);
    for (const node of strict) await mined(node, denied);
  });
});
