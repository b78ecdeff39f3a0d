import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EVM, EVMMockBlockchain, getOpcodesForHF, NobleBN254 } from "@ethereumjs/evm";
import { describe, expect, it } from "vitest";
import { Frame } from "../../src/execution/interpreter/frame.ts";
import { sharedEvm } from "../../src/execution/interpreter/libraryInternals.ts";
import { libraryCommon } from "../../src/execution/libraryCommon.ts";
import { opcodeTables } from "../../src/execution/libraryOpcodes.ts";
import { ownPrecompiles } from "../../src/execution/precompiles/precompiles.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");
const COMMON = libraryCommon({ chainId: 0n, contractSizeLimitBytes: 0 }, "cancun");

/** Each message says what to check when the version of the library changes. */
describe("the internals of the EVM library that we depend on", () => {
  it("are those of the exact version in package.json", () => {
    const { dependencies } = readJson("package.json") as { dependencies: Record<string, string> };
    const { version } = readJson("node_modules/@ethereumjs/evm/package.json") as { version: string };
    expect(dependencies["@ethereumjs/evm"], "package.json must name one version, not a range").toBe(version);
  });

  it("include the methods that our EVM overrides or calls", () => {
    const missing = EVM_METHODS.filter((name) => !(name in EVM.prototype));
    expect(
      missing,
      "forkEvm.ts, observedEvm.ts or libraryInternals.ts use methods that the library's EVM no longer has",
    ).toEqual([]);
  });

  it("include the parts of an EVM, of which libraryInternals.ts shares some and replaces others", () => {
    const evm = new EVM({
      common: COMMON,
      stateManager: {} as EVM["stateManager"],
      blockchain: new EVMMockBlockchain(),
      bn254: new NobleBN254(),
    });
    const objects = Object.entries(evm).filter(([, part]) => typeof part === "object" && part !== null);
    expect(
      objects.map(([name]) => name).sort(),
      "the library's EVM has other parts: construct() in libraryInternals.ts must replace those that a message changes",
    ).toEqual([...SHARED, ...REPLACED].sort());
    const { stateManager, blockchain, journal, transientStorage } = evm;
    const SharedEvm = sharedEvm({ opcodes: opcodeTables, precompiles: ownPrecompiles });
    const ours = new SharedEvm({ common: COMMON, stateManager, blockchain, journal, transientStorage });
    expect(
      Object.keys(ours).sort(),
      "construct() in libraryInternals.ts replaces other parts than these",
    ).toEqual(REPLACED);
  });

  it("include the methods of its interpreter, which frames inherit", () => {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(Frame.prototype));
    expect(
      INTERPRETER_METHODS.filter((name) => !methods.includes(name)),
      "the library's interpreter no longer has methods that its instructions call on our frames (frame.ts)",
    ).toEqual([]);
  });

  it("include its asynchronous instructions, which are native async functions", () => {
    const asynchronous = Object.values(getOpcodesForHF(COMMON).opcodeMap)
      .filter(
        ({ opcodeInfo, opHandler }) => opcodeInfo.isAsync && opHandler.constructor.name === "AsyncFunction",
      )
      .map(({ opcodeInfo }) => opcodeInfo.name);
    expect(
      asynchronous,
      "other instructions are async: markSynchronous() in libraryInternals.ts would not await some that must be",
    ).toEqual(ASYNC_INSTRUCTIONS);
  });
});

const EVM_METHODS = [
  "_executeCall",
  "_executeCreate",
  "_generateAddress",
  "getActiveOpcodes",
  "getPrecompile",
  "runCall",
  "runInterpreter",
  "runPrecompile",
];

/** Shared by all jobs under a fork. */
const SHARED: readonly string[] = [
  "_bn254",
  "_dynamicGasHandlers",
  "_handlers",
  "_opcodeMap",
  "_opcodes",
  "_optsCached",
  "_precompiles",
  "events",
  "performanceLogger",
];

/** Per job. */
const REPLACED: readonly string[] = [
  "_stateGasSnapshots",
  "blockchain",
  "common",
  "createdAccountIntrinsicStateGas",
  "createdAccountStateGas",
  "journal",
  "stateManager",
  "transientStorage",
];

const INTERPRETER_METHODS = [
  "_baseCall",
  "_selfDestruct",
  "call",
  "callCode",
  "callDelegate",
  "callStatic",
  "create",
  "create2",
  "finish",
  "getExternalBalance",
  "log",
  "revert",
  "selfDestruct",
  "storageLoad",
  "storageStore",
  "useGas",
];

const ASYNC_INSTRUCTIONS = [
  "BALANCE",
  "EXTCODESIZE",
  "EXTCODECOPY",
  "EXTCODEHASH",
  "BLOCKHASH",
  "SLOAD",
  "SSTORE",
  "CREATE",
  "CALL",
  "CALLCODE",
  "DELEGATECALL",
  "CREATE2",
  "STATICCALL",
  "SELFDESTRUCT",
];

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}
