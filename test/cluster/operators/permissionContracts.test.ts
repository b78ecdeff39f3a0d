import { encodeFunctionData } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { MODE, permissionRules } from "../../contracts/permissionRules.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  type NodeProcess,
  type RpcFailure,
  runProgram,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

const { AccountRules } = permissionRules();
const ACCOUNT_RULES = `0x${"00".repeat(18)}8888`;
const ASKS_ACCOUNTS = [
  "--permissions-accounts-contract-enabled",
  `--permissions-accounts-contract-address=${ACCOUNT_RULES}`,
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
    expect(node.output()).toContain("the account permissioning contract gives no answer");
  });

  it("does not start when the contract gives no answer", async () => {
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
