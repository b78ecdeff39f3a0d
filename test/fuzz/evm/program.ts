import { type ForkName, isAtLeast } from "../../../src/chainspec/forks.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { account } from "../../builders/testAccounts.ts";
import type { Random } from "../../storage/random.ts";
import type { BlockProgram } from "./blocks.ts";
import { drawInitCode } from "./calls.ts";
import { drawCode } from "./code.ts";
import type { CodeSetting } from "./codeSetting.ts";
import { DEEP_GAS, drawDeepCode } from "./deep.ts";
import { chance, pick, push, weighted, word } from "./draws.ts";
import { aShortBorderInput } from "./precompiles/borderInputs.ts";
import { drawPrecompileProgram } from "./precompiles/precompileProgram.ts";
import {
  ADDRESSES,
  accountWith,
  CONTRACTS,
  contract,
  drawEnv,
  EMPTY,
  hexOf,
  type NamedSetting,
  quantity,
  SENDER,
  settingAt,
  WITNESS,
  wordHex,
} from "./programParts.ts";
import type { ProgramAccount, ProgramTransaction, StateTestProgram } from "./stateTestProgram.ts";
import { drawFees, drawLists } from "./transactionFields.ts";

/** One program of so many nests as deep as it may. */
const DEEP_EVERY = 1000;

/** One program of so many is about precompiled contracts alone. */
const PRECOMPILES_EVERY = 25;

/** The program of a number under a seed: always the same. */
export function drawProgram(seed: number, index: number): StateTestProgram {
  if (index % PRECOMPILES_EVERY === 1) return drawPrecompileProgram(seed, index);
  const named = settingAt(seed, index);
  const program = drawOn(named, `seed ${seed}, program ${index}`);
  return index % DEEP_EVERY === 0 ? deepened(program, named.setting) : program;
}

function deepened(program: StateTestProgram, setting: CodeSetting): StateTestProgram {
  const { env, pre, transaction } = program;
  const first = hexOf(contract(0));
  const {
    accessList: _,
    authorizationList: __,
    blobVersionedHashes: ___,
    maxFeePerBlobGas: ____,
    ...fields
  } = transaction;
  return {
    ...program,
    env: { ...env, currentGasLimit: quantity(2n * DEEP_GAS) },
    pre: {
      ...pre,
      [first]: accountWith({
        balance: BigInt(setting.random.below(5000)),
        nonce: 1n,
        code: drawDeepCode(setting),
      }),
    },
    transaction: { ...fields, to: first, value: "0x0", data: "0x" },
    gasLimit: DEEP_GAS,
  };
}

const BLOCK_TRANSACTIONS = 12;

/** The block of a number under a seed: the accounts of a program, and several transactions. */
export function drawBlock(seed: number, index: number): BlockProgram {
  const setting = settingAt(seed ^ 0x5a5a5a5a, index);
  const program = drawOn(setting, `seed ${seed}, block ${index}`);
  const transactions = Array.from({ length: BLOCK_TRANSACTIONS }, () => {
    const { blobVersionedHashes: _, maxFeePerBlobGas: __, ...fields } = drawTransaction(setting.setting);
    return { fields, gasLimit: drawGasLimit(setting.setting.random) };
  });
  return { program, transactions };
}

function drawOn({ setting, forkName }: NamedSetting, name: string): StateTestProgram {
  const { random, fork } = setting;
  const transaction = drawTransaction(setting);
  return {
    name,
    fork: forkName,
    env: drawEnv(random, forkName, fork),
    pre: drawAccounts(setting),
    transaction,
    gasLimit: drawGasLimit(random),
  };
}

function drawTransaction(setting: CodeSetting): ProgramTransaction {
  const { random, fork } = setting;
  const { to, data } = drawTarget(setting);
  const isCreation = to === undefined;
  const lists = drawLists(random, fork, { isCreation, addresses: ADDRESSES });
  const needsFeeMarket = lists.blobVersionedHashes !== undefined || lists.authorizationList !== undefined;
  return {
    nonce: "0x0",
    sender: toHex(SENDER.address),
    secretKey: toHex(SENDER.privateKey),
    to: to === undefined ? "" : hexOf(to),
    value: quantity(drawValue(random)),
    data: toHex(data),
    ...drawFees(random, fork, needsFeeMarket),
    ...lists,
  };
}

/** Whom the transaction calls, and with what; undefined for a creation by the data. */
function drawTarget(setting: CodeSetting): { readonly to: bigint | undefined; readonly data: Uint8Array } {
  const { random, fork } = setting;
  const way = random.below(100);
  if (way < 12) return { to: undefined, data: drawInitCode(setting) };
  if (way < 17) {
    const { number, input } = aShortBorderInput(random, fork);
    return { to: BigInt(number), data: input };
  }
  const data = drawInput(random);
  if (way < 62) return { to: contract(0), data };
  if (way < 92) return { to: WITNESS, data };
  if (way < 95 && isAtLeast(fork, "prague")) return { to: BigInt(toHex(account(6).address)), data };
  return { to: pick(random, ADDRESSES), data };
}

function drawValue(random: Random): bigint {
  return weighted(random, [
    [60, 0n],
    [39, BigInt(random.below(10))],
    [1, word(random)],
  ]);
}

/** Words, some of which are addresses. */
function drawInput(random: Random): Uint8Array {
  if (chance(random, 20)) return new Uint8Array();
  if (chance(random, 20)) return random.bytes(random.below(200));
  const words = Array.from({ length: 1 + random.below(4) }, () =>
    (chance(random, 50) ? pick(random, ADDRESSES) : word(random)).toString(16).padStart(64, "0"),
  );
  return Buffer.from(words.join(""), "hex");
}

function drawGasLimit(random: Random): bigint {
  const most = weighted(random, [
    [70, 400_000],
    [25, 1_000_000],
    [5, 4_000_000],
  ]);
  return BigInt(60_000 + random.below(most));
}

function drawAccounts(setting: CodeSetting): Record<string, ProgramAccount> {
  const { random, fork } = setting;
  const accounts: Record<string, ProgramAccount> = {
    [toHex(SENDER.address)]: accountWith({ balance: chance(random, 97) ? 10n ** 18n : 4_000_000n }),
    [hexOf(WITNESS)]: accountWith({ nonce: 1n, code: witnessCode(fork) }),
    [toHex(account(5).address)]: accountWith({ balance: 5n, nonce: BigInt(random.below(2)) }),
  };
  for (let index = 0; index < CONTRACTS; index++)
    accounts[hexOf(contract(index))] = accountWith({
      balance: BigInt(random.below(20)),
      nonce: chance(random, 2) ? 2n ** 64n - BigInt(1 + random.below(2)) : 1n,
      code: drawCode(setting, 2 + random.below(index === 0 ? 22 : 10)),
      storage: drawStorage(random),
    });
  // Before EIP-158 there are accounts that have nothing, and after it nothing removes them until they are touched.
  if (chance(random, 30)) accounts[hexOf(EMPTY)] = accountWith({});
  if (isAtLeast(fork, "prague"))
    accounts[toHex(account(6).address)] = accountWith({
      balance: 7n,
      nonce: 1n,
      code: Buffer.from(`ef0100${hexOf(pick(random, ADDRESSES)).slice(2)}`, "hex"),
      storage: drawStorage(random),
    });
  if (isAtLeast(fork, "prague") && chance(random, 30))
    accounts[toHex(account(7).address)] = accountWith({ balance: BigInt(random.below(3)), nonce: 1n });
  return accounts;
}

function drawStorage(random: Random): Record<string, string> {
  const storage: Record<string, string> = {};
  for (let slot = 0; slot < 4; slot++)
    if (chance(random, 35)) storage[wordHex(BigInt(slot))] = wordHex(word(random) || 1n);
  return storage;
}

/** Calls the first contract and logs whether it succeeded, the gas left, and what it returned. */
function witnessCode(fork: ForkName): Uint8Array {
  const copyInput = [0x36, 0x60, 0, 0x60, 0, 0x37];
  const operands = [0x60, 64, 0x60, 0, 0x36, 0x60, 0, 0x34, ...push(contract(0))];
  const gas = isAtLeast(fork, "tangerineWhistle") ? [0x5a] : [...push(20_000), 0x5a, 0x03];
  const returned = isAtLeast(fork, "byzantium")
    ? [0x3d, 0x60, 0, 0x60, 0, 0x3e, 0x5a, 0x3d]
    : [0x5a, 0x60, 64];
  return Uint8Array.of(...copyInput, ...operands, ...gas, 0xf1, ...returned, 0x60, 0, 0xa2);
}
