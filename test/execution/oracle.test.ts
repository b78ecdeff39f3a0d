import { createBlock } from "@ethereumjs/block";
import { type Common, createCustomCommon, Mainnet } from "@ethereumjs/common";
import { MerkleStateManager } from "@ethereumjs/statemanager";
import { createTxFromRLP } from "@ethereumjs/tx";
import { Account as LibraryAccount, Address as LibraryAddress } from "@ethereumjs/util";
import { createVM, runTx, type VM } from "@ethereumjs/vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ForkName } from "../../src/chainspec/forks.ts";
import { executeTransaction } from "../../src/execution/executeTransaction.ts";
import { type Address, addressFromHex } from "../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { JournaledOverlay } from "../../src/state/overlay.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { casesOf } from "../thorough.ts";
import {
  aContext,
  aSession,
  BENEFICIARY,
  CHAIN_ID,
  type ContextAccount,
  contractAt,
  ETHER,
  slotOf,
} from "./context.ts";

/*
 * Compares our transaction processing with the library's own on its Merkle state: after each of some random
 * transactions, gas, logs, output and state root must be equal.
 */
const FORKS = ["istanbul", "berlin", "london", "shanghai", "cancun"] as const;
const ABSENT = addressFromHex("0xab00000000000000000000000000000000000000");
const IDENTITY = addressFromHex("0x0000000000000000000000000000000000000004");

/** PUSH20 of a contract's address. */
function pushOf(contract: number): string {
  return `73${toHex(contractAt(contract)).slice(2)}`;
}

/** Small contracts that write, call, create, self-destruct or fail. Each reads its operands from the call data. */
const CONTRACTS: readonly string[] = [
  "0x60203560003555", // SSTORE(data[0], data[1])
  "0x60005460010160005560005160206000a060205ff3", // counts in slot 0, logs, returns (PUSH0: from Shanghai on)
  "0x600035ff", // SELFDESTRUCT(data[0])
  "0x600160005560206000fd", // SSTORE, then REVERT
  "0x6001600055fe", // SSTORE, then INVALID
  `0x60206000600060006000${pushOf(1)}620186a0f160005500`, // CALL(contract 1), stores the result
  `0x6020600060406000${pushOf(0)}620186a0f400`, // DELEGATECALL(contract 0)
  "0x600035600052600160006000f060005560016000a000", // CREATE from a byte of data, logs
  "0x60006000600060006005600035620186a0f160005500", // CALL(data[0]) with 5 wei
  "0x600035600052600060206000600af5506001545060018060015500", // CREATE2 from data, SLOAD, SSTORE
  "0x5b600056", // loops until out of gas
  "0x600054600056", // SLOAD and a bad jump
];

const PRE_STATE: readonly (readonly [Address, ContextAccount])[] = [
  [account(0).address, { balance: 10n * ETHER }],
  [account(1).address, { balance: 10n * ETHER, nonce: 3n }],
  ...CONTRACTS.map(
    (code, n) => [contractAt(n), { balance: 100n, nonce: 1n, code, storage: { 0: 7n, 1: 1n } }] as const,
  ),
];

const anyone = fc.constantFrom(...PRE_STATE.map(([address]) => address), ABSENT, IDENTITY, BENEFICIARY);

const words = fc
  .array(fc.oneof(anyone.map(asWord), fc.constantFrom(0n, 1n, 2n, 2n ** 255n)), { maxLength: 3 })
  .map((values) => values.map((value) => value.toString(16).padStart(64, "0")).join(""));

const fields = fc.record({
  type: fc.constantFrom(0 as const, 1 as const, 2 as const),
  from: fc.constantFrom(0, 1),
  to: fc.oneof({ weight: 6, arbitrary: anyone }, { weight: 1, arbitrary: fc.constant(undefined) }),
  value: fc.constantFrom(0n, 1n, 50n, ETHER),
  gasLimit: fc.bigInt({ min: 90_000n, max: 400_000n }),
  data: fc.oneof(words, fc.constantFrom(...CONTRACTS.map((code) => code.slice(2)))),
  tip: fc.constantFrom(0n, 1n, 1_000_000_000n),
  listed: fc.array(anyone, { maxLength: 2 }),
});

type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never;

function asWord(address: Address): bigint {
  return BigInt(toHex(address));
}

const BASE_FEE = 7n;

function sign(choice: Fields, nonce: bigint, fork: ForkName): SentTransaction {
  const type = fork === "istanbul" ? 0 : fork === "berlin" && choice.type === 2 ? 1 : choice.type;
  const gasPrice = choice.tip + BASE_FEE;
  return aTransaction({
    type,
    nonce,
    to: choice.to,
    value: choice.value,
    gasLimit: choice.gasLimit,
    data: hexToBytes(choice.data),
    gasPrice,
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: choice.tip,
    accessList: choice.listed.map((address) => ({ address, storageKeys: [slotOf(0) as never] })),
    privateKey: account(choice.from).privateKey,
  });
}

async function ourState(): Promise<WorldState> {
  const database = createMemoryDatabase();
  const state = new WorldState({ database });
  const overlay = new JournaledOverlay(state.head);
  for (const [address, { balance = 0n, nonce = 0n, code, storage = {} }] of PRE_STATE) {
    overlay.putAccount(address, { ...EMPTY_ACCOUNT, balance, nonce });
    if (code !== undefined) overlay.putCode(address, hexToBytes(code));
    for (const [slot, value] of Object.entries(storage))
      overlay.putStorage(address, slotOf(Number(slot)), bigintToBytes(value));
  }
  const staged = state.stage(overlay.changes(), 0n);
  const batch = new Batch();
  staged.writeTo(batch);
  await database.write(batch);
  state.adopt(staged);
  return state;
}

async function theirVm(fork: ForkName): Promise<VM> {
  const common: Common = createCustomCommon({ chainId: Number(CHAIN_ID) }, Mainnet, { hardfork: fork });
  const stateManager = new MerkleStateManager({ common });
  for (const [name, { balance = 0n, nonce = 0n, code, storage = {} }] of PRE_STATE) {
    const address = new LibraryAddress(name);
    await stateManager.putAccount(address, new LibraryAccount(nonce, balance));
    if (code !== undefined) await stateManager.putCode(address, hexToBytes(code));
    for (const [slot, value] of Object.entries(storage))
      await stateManager.putStorage(address, slotOf(Number(slot)), bigintToBytes(value));
  }
  return createVM({ common, stateManager });
}

const OURS_FIRST = "ours, theirs";

describe("our transaction processing and the library's", () => {
  it.each(FORKS)("agree on gas, logs, output and state root under %s", async (fork) => {
    const isMerged = fork === "shanghai" || fork === "cancun";
    const hasBaseFee = isMerged || fork === "london";
    let executed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { minLength: 1, maxLength: 4 }), async (choices) => {
        const state = await ourState();
        const overlay = state.overlay();
        const context = aContext({
          difficulty: isMerged ? 0n : 1n,
          blobBaseFee: fork === "cancun" ? 1n : 0n,
        });
        const { baseFeePerGas: _, ...withoutBaseFee } = context;
        const session = aSession(
          fork,
          overlay,
          hasBaseFee ? { ...context, baseFeePerGas: BASE_FEE } : withoutBaseFee,
        );
        const vm = await theirVm(fork);
        const block = createBlock(
          {
            header: {
              number: context.number,
              timestamp: context.timestamp,
              gasLimit: context.gasLimit,
              coinbase: new LibraryAddress(BENEFICIARY),
              difficulty: context.difficulty,
              mixHash: context.mixHash,
              ...(hasBaseFee && { baseFeePerGas: BASE_FEE }),
            },
          },
          { common: vm.common, skipConsensusFormatValidation: true },
        );
        const nonces = [0n, 3n];
        for (const choice of choices) {
          const transaction = sign(choice, nonces[choice.from] ?? 0n, fork);
          overlay.beginTransaction();
          const ours = await executeTransaction(session, transaction);
          const tx = createTxFromRLP(transaction.raw, { common: vm.common });
          const theirs = await runTx(vm, { tx, block }).catch((error: Error) => error.message);
          if (typeof theirs === "string" || !ours.ok) {
            expect(`${OURS_FIRST}: ${ours.ok}`).toBe(`${OURS_FIRST}: ${typeof theirs !== "string"}`);
            continue;
          }
          executed++;
          nonces[choice.from] = (nonces[choice.from] ?? 0n) + 1n;
          const { gasUsed, logs, outcome, output } = ours.value;
          const { execResult } = theirs;
          expect({
            gasUsed,
            isSuccess: outcome.kind === "succeeded",
            output: toHex(output),
            logs: logs.map(({ address, topics, data }) =>
              [address, topics, data].flat().map((part) => toHex(part as Uint8Array)),
            ),
          }).toEqual({
            gasUsed: theirs.totalGasSpent,
            isSuccess: execResult.exceptionError === undefined,
            output: toHex(execResult.returnValue),
            logs: (execResult.logs ?? []).map(([address, topics, data]) =>
              [address, topics, data].flat().map((part) => toHex(part as Uint8Array)),
            ),
          });
        }
        expect(toHex(state.stage(overlay.changes(), 1n).root)).toBe(
          toHex(await vm.stateManager.getStateRoot()),
        );
      }),
      { numRuns: casesOf(30) },
    );
    expect(executed).toBeGreaterThan(casesOf(10));
  });
});
