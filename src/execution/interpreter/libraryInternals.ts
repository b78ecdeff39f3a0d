import type { Common } from "@ethereumjs/common";
import { EVM, NobleBLS, NobleBN254 } from "@ethereumjs/evm";
import { AssertionFailed } from "../../primitives/assert.ts";
import { type OpcodeTables, opcodeTables } from "../libraryOpcodes.ts";
import { ownPrecompiles } from "../precompiles/precompiles.ts";

/** The parts of the EVM that belong to one job. */
export type OwnParts = Pick<EVM, "common" | "stateManager" | "blockchain" | "journal" | "transientStorage">;

/**
 * The library's EVM as a base class. Everything that depends on the fork alone (tables of instructions and precompiled
 * contracts, settings) is inherited from a template that is created once: the library's constructor takes longer than
 * many calls.
 */
export const SharedEvm = construct as unknown as new (parts: OwnParts) => EVM;

construct.prototype = EVM.prototype;

function construct(parts: OwnParts): EVM {
  const evm = Object.create(prototypeOf(parts.common, new.target)) as EVM;
  return Object.assign(evm, parts, {
    createdAccountStateGas: new Map(),
    createdAccountIntrinsicStateGas: new Map(),
    _stateGasSnapshots: [],
  });
}

/** The prototype of a class's instances under a fork: the class's own members plus the template's. */
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

/** An EVM that never runs code. */
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
    stateManager: PLACEHOLDER as EVM["stateManager"],
    blockchain: PLACEHOLDER as EVM["blockchain"],
    bls: new NobleBLS(),
    bn254: new NobleBN254(),
    customPrecompiles: ownPrecompiles(common),
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
