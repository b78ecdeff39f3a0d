import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EVM, EVMMockBlockchain, getOpcodesForHF, NobleBN254 } from "@ethereumjs/evm";
import { describe, expect, it } from "vitest";
import { LIBRARY_INTERPRETER } from "../../src/execution/interpreter/libraryInterpreter.ts";
import { SharedEvm } from "../../src/execution/interpreter/sharedEvm.ts";
import { libraryCommon } from "../../src/execution/libraryCommon.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");
const COMMON = libraryCommon({ chainId: 0n, contractSizeLimitBytes: 0 }, "cancun");

/** Each sentence says what to look at when another version of the library is taken. */
describe("what we use of the EVM library without its exporting it", () => {
  it("is that of the version which package.json names exactly", () => {
    const { dependencies } = readJson("package.json") as { dependencies: Record<string, string> };
    const { version } = readJson("node_modules/@ethereumjs/evm/package.json") as { version: string };
    expect(dependencies["@ethereumjs/evm"], "package.json must name one version, not a range").toBe(version);
  });

  it("are the methods that our machine overrides or calls", () => {
    const gone = MACHINE_METHODS.filter((name) => !(name in EVM.prototype));
    expect(
      gone,
      "forkEvm.ts, observedEvm.ts or sharedEvm.ts use methods that the library's EVM lost",
    ).toEqual([]);
  });

  it("are the parts of a machine, of which sharedEvm.ts shares some and renews others", () => {
    const machine = new EVM({
      common: COMMON,
      stateManager: {} as EVM["stateManager"],
      blockchain: new EVMMockBlockchain(),
      bn254: new NobleBN254(),
    });
    const objects = Object.entries(machine).filter(([, part]) => typeof part === "object" && part !== null);
    expect(
      objects.map(([name]) => name).sort(),
      "the library's EVM has other parts: construct() in sharedEvm.ts must renew those that a message changes",
    ).toEqual([...SHARED, ...RENEWED].sort());
    const { stateManager, blockchain, journal, transientStorage } = machine;
    const ours = new SharedEvm({ common: COMMON, stateManager, blockchain, journal, transientStorage });
    expect(Object.keys(ours).sort(), "construct() in sharedEvm.ts renews other parts than these").toEqual(
      RENEWED,
    );
  });

  it("are the methods of its interpreter, which frame.ts inherits", () => {
    const methods = Object.getOwnPropertyNames(LIBRARY_INTERPRETER);
    expect(
      INTERPRETER_METHODS.filter((name) => !methods.includes(name)),
      "the library's interpreter lost methods which its instructions call on our frames (frame.ts)",
    ).toEqual([]);
  });

  it("are its instructions that have to be waited for, known by being native async functions", () => {
    const waiting = Object.values(getOpcodesForHF(COMMON).opcodeMap)
      .filter(
        ({ opcodeInfo, opHandler }) => opcodeInfo.isAsync && opHandler.constructor.name === "AsyncFunction",
      )
      .map(({ opcodeInfo }) => opcodeInfo.name);
    expect(
      waiting,
      "other instructions are async: withoutNeedlessWait() in libraryOpcodes.ts would not wait for some that must be",
    ).toEqual(ASYNC_INSTRUCTIONS);
  });
});

const MACHINE_METHODS = [
  "_executeCall",
  "_executeCreate",
  "_generateAddress",
  "getActiveOpcodes",
  "getPrecompile",
  "runCall",
  "runInterpreter",
  "runPrecompile",
];

/** The same for all jobs under a fork. */
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

/** Of a job. */
const RENEWED: readonly string[] = [
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
