import { toHex } from "../../../../src/primitives/hex.ts";
import type { Random } from "../../../storage/random.ts";
import type { CodeSetting } from "../codeSetting.ts";
import { CodeWriter } from "../codeWriter.ts";
import { chance, pick, weighted } from "../draws.ts";
import { accountWith, contract, drawEnv, hexOf, quantity, SENDER, settingAt } from "../programParts.ts";
import type { ProgramAccount, StateTestProgram } from "../stateTestProgram.ts";
import { aBorderInput } from "./borderInputs.ts";
import { ampleGas, drawCall, type PrecompileCall, writeCalls } from "./precompileCall.ts";

/** The later forks have more contracts. */
const FORKS: readonly (readonly [weight: number, fork: string])[] = [
  [2, "Frontier"],
  [2, "Homestead"],
  [2, "EIP150"],
  [3, "EIP158"],
  [8, "Byzantium"],
  [3, "ConstantinopleFix"],
  [8, "Istanbul"],
  [9, "Berlin"],
  [5, "London"],
  [4, "Shanghai"],
  [14, "Cancun"],
  [40, "Prague"],
];

/** Code reaches its inputs by two bytes; its instructions need few. */
const MOST_INPUT_BYTES = 50_000;
const MOST_CALLS = 40;
const DIRECT_PERCENT = 15;

/** A program about precompiled contracts alone: many calls of them, or one transaction to one of them. */
export function drawPrecompileProgram(seed: number, index: number): StateTestProgram {
  const { setting, forkName } = settingAt(seed, index, FORKS);
  const { random, fork } = setting;
  const name = `seed ${seed}, precompiles ${index}`;
  const env = { ...drawEnv(random, forkName, fork), currentGasLimit: quantity(2n ** 40n) };
  const fields = { name, fork: forkName, env, cutOffs: 1 };
  if (chance(random, DIRECT_PERCENT)) return { ...fields, ...direct(setting) };
  const calls = drawCalls(setting);
  const pre = { ...drawAccounts(random), [hexOf(contract(0))]: caller(calls, setting) };
  const gas = calls.reduce(
    (sum, call) => sum + call.gas + (call.again === undefined ? 0 : call.gas),
    3_000_000,
  );
  const program = { ...fields, pre, transaction: transactionTo(hexOf(contract(0))), gasLimit: BigInt(gas) };
  return {
    ...program,
    parts: () =>
      calls.map((call) => ({ ...program, pre: { ...pre, [hexOf(contract(0))]: caller([call], setting) } })),
  };
}

function drawCalls({ random, fork }: CodeSetting): readonly PrecompileCall[] {
  const calls: PrecompileCall[] = [];
  let bytes = 0;
  for (let left = 1 + random.below(MOST_CALLS); left > 0; left--) {
    const call = drawCall(random, fork);
    bytes += call.input.length;
    if (bytes > MOST_INPUT_BYTES) break;
    // The same input again at once, or the call before: nothing of one is left in the next.
    const earlier = chance(random, 6) && calls.length > 0 ? [pick(random, calls)] : [];
    const repeated = earlier.filter(({ input }) => bytes + input.length <= MOST_INPUT_BYTES);
    bytes += repeated.reduce((sum, { input }) => sum + input.length, 0);
    calls.push(call, ...repeated);
  }
  return calls;
}

function caller(calls: readonly PrecompileCall[], { fork }: CodeSetting): ProgramAccount {
  const writer = new CodeWriter();
  writeCalls(writer, calls, fork);
  return accountWith({ balance: 1000n, nonce: 1n, code: writer.finish() });
}

function direct({ random, fork }: CodeSetting): Pick<StateTestProgram, "pre" | "transaction" | "gasLimit"> {
  const { number, input } = aBorderInput(random, fork);
  const gasLimit = BigInt(100_000 + 70 * input.length + ampleGas(input.length));
  const value = chance(random, 25) ? "0x1" : "0x0";
  const transaction = { ...transactionTo(hexOf(BigInt(number))), data: toHex(input), value };
  return { pre: drawAccounts(random), transaction, gasLimit };
}

function transactionTo(to: string): StateTestProgram["transaction"] {
  return {
    nonce: "0x0",
    sender: toHex(SENDER.address),
    secretKey: toHex(SENDER.privateKey),
    to,
    value: "0x0",
    data: "0x",
    gasPrice: "0xa",
  };
}

const NUMBERS = [...Array.from({ length: 18 }, (_, index) => index + 1), 0x100];

/** The sender, and those precompiled contracts that have an account, which hardly matters to them. */
function drawAccounts(random: Random): Record<string, ProgramAccount> {
  const accounts: Record<string, ProgramAccount> = {
    [toHex(SENDER.address)]: accountWith({ balance: 10n ** 18n }),
  };
  for (const number of NUMBERS) {
    const account = weighted<ProgramAccount | undefined>(random, [
      [60, accountWith({ balance: 1n })],
      [20, undefined],
      // Besu, and Ibex with it, keeps RIPEMD-160's where go-ethereum deletes it (ibft2.md#empty-accounts).
      [12, accountWith({ balance: number === 3 ? 1n : 0n })],
      [4, accountWith({ nonce: 1n, code: Uint8Array.of(0x60, 0, 0x60, 0, 0xfd) })],
    ]);
    if (account !== undefined) accounts[hexOf(BigInt(number))] = account;
  }
  return accounts;
}
