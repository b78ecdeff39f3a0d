import type { Common } from "@ethereumjs/common";
import { EVM, NobleBLS, NobleBN254 } from "@ethereumjs/evm";
import { AssertionFailed } from "../../primitives/assert.ts";
import { type OpcodeTables, opcodeTables } from "../libraryOpcodes.ts";
import { ownPrecompiles } from "../precompiles/precompiles.ts";

/** What each job brings along. */
export type OwnParts = Pick<EVM, "common" | "stateManager" | "blockchain" | "journal" | "transientStorage">;

/**
 * The library's machine as a base class. All that depends on the fork alone (tables of instructions and of precompiled
 * contracts, settings) is taken from a machine that was made once: the library's constructor takes longer than many a
 * call.
 */
export const SharedEvm = construct as unknown as new (parts: OwnParts) => EVM;

construct.prototype = EVM.prototype;

function construct(parts: OwnParts): EVM {
  const machine = Object.create(prototypeOf(parts.common, new.target)) as EVM;
  return Object.assign(machine, parts, {
    createdAccountStateGas: new Map(),
    createdAccountIntrinsicStateGas: new Map(),
    _stateGasSnapshots: [],
  });
}

/** What machines of a class inherit under a fork: what the class has, and what a template has. */
function prototypeOf(common: Common, { prototype }: { readonly prototype: EVM }): object {
  let known = prototypes.get(common);
  if (known === undefined) {
    known = new Map();
    prototypes.set(common, known);
  }
  let shared = known.get(prototype);
  if (shared === undefined) {
    shared = Object.assign(Object.create(prototype), templateOf(common)) as object;
    known.set(prototype, shared);
  }
  return shared;
}

const prototypes = new WeakMap<Common, Map<object, object>>();

/** Never runs anything. */
class Template extends EVM {
  override getActiveOpcodes(): OpcodeTables["opcodes"] {
    const tables = opcodeTables(this.common);
    this._opcodes = tables.opcodes;
    this._dynamicGasHandlers = tables.dynamicGasHandlers;
    this._handlers = tables.handlers;
    this._opcodeMap = tables.opcodeMap;
    return tables.opcodes;
  }
}

function templateOf(common: Common): EVM {
  const template = new Template({
    common,
    stateManager: NOTHING as EVM["stateManager"],
    blockchain: NOTHING as EVM["blockchain"],
    bls: new NobleBLS(),
    bn254: new NobleBN254(),
    customPrecompiles: ownPrecompiles(common),
  });
  // For a change of fork that never comes.
  common.events.removeAllListeners();
  return template;
}

/** In the place of what only a job has. */
const NOTHING: object = new Proxy(
  {},
  {
    get() {
      throw new AssertionFailed("a template runs nothing");
    },
  },
);
