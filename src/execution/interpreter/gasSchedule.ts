import { type ForkName, isAtLeast } from "../../chainspec/forks.ts";
import type { CoreFork } from "../../evm/machine.ts";
import type { Rules } from "../rules.ts";

/** Gas costs of the instructions on the state in a fork, without the price of cold access (EIP-2929). */
export interface GasSchedule {
  readonly core: CoreFork;
  readonly balance: number;
  /** Cost of EXTCODESIZE and EXTCODECOPY. */
  readonly code: number;
  readonly codeHash: number;
  readonly load: number;
  readonly store: StoreGasCosts;
  readonly call: number;
  readonly selfdestruct: number;
  readonly selfdestructRefund: number;
  /** SELFDESTRUCT pays for an account that it creates: never, for any, or if it sends a balance. */
  readonly selfdestructCreates: "free" | "always" | "withBalance";
  /** Cost of CREATE and CREATE2 for each word of init code. */
  readonly initCodeWord: number;
  /** Opcode 0x44 is PREVRANDAO, not DIFFICULTY. */
  readonly hasRandomness: boolean;
  /** A caller keeps a 64th of its gas (EIP-150). */
  readonly hasAllButOne64th: boolean;
  /** Calls pay for a new account only if they send value (EIP-161). */
  readonly newAccountNeedsValue: boolean;
  readonly isKnown: (instruction: number) => boolean;
}

/** Gas costs of SSTORE. */
export interface StoreGasCosts {
  /**
   * True if the cost depends on the value at the beginning of the transaction as well (EIP-1283, EIP-2200), not only on the
   * current one.
   */
  readonly isNet: boolean;
  /** SSTORE fails unless more gas than this is left (EIP-2200). */
  readonly stipend: number;
  /** Cost of a write that changes nothing, or of one to a slot that the transaction already changed. */
  readonly dirty: number;
  readonly fromZero: number;
  readonly change: number;
  readonly clearRefund: number;
}

/** The table of a fork; the same object each time. */
export function gasSchedule(rules: Rules): GasSchedule {
  let table = known.get(rules);
  if (table === undefined) {
    table = tableOf(rules);
    known.set(rules, table);
  }
  return table;
}

const known = new Map<Rules, GasSchedule>();

function tableOf(rules: Rules): GasSchedule {
  const { fork, hasColdAccess, clearsEmptyAccounts, hasBaseFee } = rules;
  /** The value of the latest fork that has begun. */
  const since = <T>(first: T, ...later: readonly (readonly [ForkName, T])[]): T =>
    later.findLast(([from]) => isAtLeast(fork, from))?.[1] ?? first;
  const missing = missingIn(fork);
  return {
    core: {
      name: fork,
      missing: bitsOf(missing),
      exponentGas: clearsEmptyAccounts ? 50 : 10,
    },
    balance: since(20, ["tangerineWhistle", 400], ["istanbul", 700], ["berlin", 0]),
    code: since(20, ["tangerineWhistle", 700], ["berlin", 0]),
    codeHash: since(400, ["istanbul", 700], ["berlin", 0]),
    load: since(50, ["tangerineWhistle", 200], ["istanbul", 800], ["berlin", 0]),
    store: {
      isNet: fork === "constantinople" || isAtLeast(fork, "istanbul"),
      stipend: isAtLeast(fork, "istanbul") ? 2_300 : 0,
      dirty: since(200, ["istanbul", 800], ["berlin", 100]),
      fromZero: 20_000,
      change: hasColdAccess ? 2_900 : 5_000,
      // EIP-3529 came with the base fee, in London.
      clearRefund: hasBaseFee ? 4_800 : 15_000,
    },
    call: since(40, ["tangerineWhistle", 700], ["berlin", 0]),
    selfdestruct: since(0, ["tangerineWhistle", 5_000]),
    selfdestructRefund: hasBaseFee ? 0 : 24_000,
    selfdestructCreates: since("free", ["tangerineWhistle", "always"], ["spuriousDragon", "withBalance"]),
    initCodeWord: rules.initCodeLimitBytes === undefined ? 0 : 2,
    hasRandomness: isAtLeast(fork, "shanghai"),
    hasAllButOne64th: isAtLeast(fork, "tangerineWhistle"),
    newAccountNeedsValue: clearsEmptyAccounts,
    isKnown: (instruction) => isInstruction(instruction) && !missing.has(instruction),
  };
}

/** Instructions that came after Frontier. */
const LATER: readonly (readonly [ForkName, readonly number[]])[] = [
  ["homestead", [0xf4]],
  ["byzantium", [0x3d, 0x3e, 0xfa, 0xfd]],
  ["constantinople", [0x1b, 0x1c, 0x1d, 0x3f, 0xf5]],
  ["istanbul", [0x46, 0x47]],
  ["london", [0x48]],
  ["shanghai", [0x5f]],
  ["cancun", [0x49, 0x4a, 0x5c, 0x5d, 0x5e]],
];

function missingIn(fork: ForkName): ReadonlySet<number> {
  return new Set(
    LATER.filter(([since]) => !isAtLeast(fork, since)).flatMap(([, instructions]) => instructions),
  );
}

function bitsOf(set: ReadonlySet<number>): Uint8Array {
  const bits = new Uint8Array(32);
  for (const member of set) bits[member >> 3] = (bits[member >> 3] as number) | (1 << (member & 7));
  return bits;
}

/** True for the instructions of the last fork. */
function isInstruction(code: number): boolean {
  return RANGES.some(([first, last]) => code >= first && code <= last);
}

const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x0b],
  [0x10, 0x1d],
  [0x20, 0x20],
  [0x30, 0x4a],
  [0x50, 0xa4],
  [0xf0, 0xf5],
  [0xfa, 0xfa],
  [0xfd, 0xfd],
  [0xff, 0xff],
];
