import type { Common, StateManagerInterface } from "@ethereumjs/common";
import {
  type CustomPrecompile,
  EVM,
  EVMMockBlockchain,
  getOpcodesForHF,
  NobleBLS,
  NobleBN254,
  type PrecompileInput,
} from "@ethereumjs/evm";
import { AssertionFailed, expectDefined } from "../../primitives/assert.ts";
import { libraryCommon } from "../libraryCommon.ts";

/**
 * Everything of @ethereumjs/evm that it does not export, or that its types hide: the class of its interpreter, the parts
 * of an EVM that depend on the fork alone, and objects of ours in place of its own. No other file reaches for them, and
 * test/execution/libraryInternals.test.ts tells what to check after an upgrade. Methods that the library declares
 * `protected` are no such parts: forkEvm.ts overrides them, and the compiler checks that they exist.
 */

/** The library's instruction set for one fork. */
export type OpcodeTables = ReturnType<typeof getOpcodesForHF>;
/** One of its instructions, with what the library runs to price and to perform it. */
export type LibraryInstruction = OpcodeTables["opcodeMap"][number];
/** The state of a frame, as the library's instructions see it. */
export type RunState = Parameters<LibraryInstruction["opHandler"]>[0];

/** What only the fork determines; looked up once per fork. */
export interface ForkTables {
  opcodes(common: Common): OpcodeTables;
  precompiles(common: Common): CustomPrecompile[];
}

/** The parts of the EVM that belong to one job, with those members of the library's classes that its code uses. */
export interface JobParts {
  readonly common: Common;
  readonly stateManager: EVM["stateManager"];
  readonly blockchain: EVM["blockchain"];
  readonly journal: Like<EVM["journal"], JournalMethods>;
  readonly transientStorage: Like<EVM["transientStorage"], TransientMethods>;
}

type JournalMethods =
  | "putAccount"
  | "deleteAccount"
  | "checkpoint"
  | "commit"
  | "revert"
  | "addWarmedAddress"
  | "addAlwaysWarmAddress"
  | "isWarmedAddress"
  | "addWarmedStorage"
  | "isWarmedStorage";
type TransientMethods = "get" | "put" | "checkpoint" | "commit" | "revert" | "clear";

/** Some methods of a class, which may also return their results without a promise. */
type Like<Class, Methods extends keyof Class> = {
  readonly [Name in Methods]: Class[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result | Awaited<Result>
    : never;
};

/**
 * The library's EVM as a base class. Everything that depends on the fork alone (tables of instructions and precompiled
 * contracts, settings) is inherited from a template that is created once: the library's constructor takes longer than
 * many calls.
 */
export function sharedEvm(tables: ForkTables): new (parts: JobParts) => EVM {
  const prototypes = new WeakMap<Common, Map<object, object>>();

  /** The prototype of a class's instances under a fork: the class's own members plus the template's. */
  function prototypeOf(common: Common, { prototype }: { readonly prototype: EVM }): object {
    let known = prototypes.get(common);
    if (known === undefined) {
      known = new Map();
      prototypes.set(common, known);
    }
    let shared = known.get(prototype);
    if (shared === undefined) {
      shared = Object.assign(Object.create(prototype), templateOf(common, tables)) as object;
      known.set(prototype, shared);
    }
    return shared;
  }

  function construct(parts: JobParts): EVM {
    const evm = Object.create(prototypeOf(parts.common, new.target)) as EVM;
    return Object.assign(evm, parts, {
      createdAccountStateGas: new Map(),
      createdAccountIntrinsicStateGas: new Map(),
      _stateGasSnapshots: [],
    });
  }
  construct.prototype = EVM.prototype;

  return construct as unknown as new (
    parts: JobParts,
  ) => EVM;
}

/** An EVM that never runs code. */
function templateOf(common: Common, tables: ForkTables): EVM {
  class Template extends EVM {
    override getActiveOpcodes(): OpcodeTables["opcodes"] {
      const { opcodes, dynamicGasHandlers, handlers, opcodeMap } = tables.opcodes(this.common);
      this._opcodes = opcodes;
      this._dynamicGasHandlers = dynamicGasHandlers;
      this._handlers = handlers;
      this._opcodeMap = opcodeMap;
      return opcodes;
    }
  }
  const template = new Template({
    common,
    stateManager: PLACEHOLDER as EVM["stateManager"],
    blockchain: PLACEHOLDER as EVM["blockchain"],
    bls: new NobleBLS(),
    bn254: new NobleBN254(),
    customPrecompiles: tables.precompiles(common),
  });
  // The listeners are for a change of fork, which never happens.
  common.events.removeAllListeners();
  return template;
}

/** Placeholder for the parts that only a job has. */
const PLACEHOLDER: object = new Proxy(
  {},
  {
    get() {
      throw new AssertionFailed("a template runs no code");
    },
  },
);

/** The library's instructions of a fork. Marks those as synchronous that never wait. */
export function libraryOpcodesOf(common: Common): OpcodeTables {
  const tables = getOpcodesForHF(common);
  for (const [code, instruction] of tables.opcodeMap.entries())
    tables.opcodeMap[code] = markSynchronous(instruction);
  return tables;
}

/** The library also calls instructions asynchronous whose functions return no promise. */
function markSynchronous(instruction: LibraryInstruction): LibraryInstruction {
  const { opcodeInfo, opHandler } = instruction;
  if (!opcodeInfo.isAsync || opHandler.constructor.name === "AsyncFunction") return instruction;
  return { ...instruction, opcodeInfo: { ...opcodeInfo, isAsync: false } };
}

/** A frame's state in place of the library's: what its instructions read and write. */
type OwnRunState = Pick<
  RunState,
  | "programCounter"
  | "opCode"
  | "gasLeft"
  | "gasRefund"
  | "memoryWordCount"
  | "highestMemCost"
  | "stateManager"
> & {
  /** They call its methods by the library's names. */
  readonly stack: object;
  readonly memory: object;
  readonly env: object;
  readonly interpreter: object;
  returnBytes: Uint8Array;
};

/** Our state of a frame, behind the library's type, which requires its own class because of private members. */
export function runStateOf(state: OwnRunState): RunState {
  return state as unknown as RunState;
}

/** Lets a class inherit the methods of the library's interpreter, which its instructions call. */
export function inheritInterpreter(ownClass: { readonly prototype: object }): void {
  Object.setPrototypeOf(ownClass.prototype, INTERPRETER_PROTOTYPE);
}

/**
 * The prototype of the library's interpreter. The library does not export it, so this runs a single custom instruction
 * that captures it.
 */
const INTERPRETER_PROTOTYPE: object = await findPrototype();

async function findPrototype(): Promise<object> {
  let prototype: object | undefined;
  const probe = new EVM({
    common: libraryCommon({ chainId: 0n, contractSizeLimitBytes: 0 }, "frontier"),
    stateManager: { getAccount: async () => undefined } as unknown as StateManagerInterface,
    blockchain: new EVMMockBlockchain(),
    bn254: new NobleBN254(),
    customOpcodes: [
      {
        opcode: 0,
        opcodeName: "STOP",
        baseFee: 0,
        logicFunction: ({ interpreter }) => {
          prototype = Object.getPrototypeOf(interpreter) as object;
        },
      },
    ],
  });
  await probe.runCode({ code: Uint8Array.of(0), gasLimit: 1n });
  return expectDefined(prototype, "the library's interpreter");
}

/** The parts of the calling EVM that the library's precompiled contracts use. */
export interface Curves {
  readonly bn254?: object;
  readonly bls?: object;
}

/** An EVM for the library's precompiled contracts that consists of our curves alone. */
export function evmOfCurves({ bn254, bls }: Curves): PrecompileInput["_EVM"] {
  const parts: object = { _bn254: bn254, _bls: bls };
  return parts as PrecompileInput["_EVM"];
}
