import type { ForkName } from "../../../src/chainspec/forks.ts";
import { type Address, addressFromHex } from "../../../src/primitives/address.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";
import { CONTRACT, runMessage } from "./message.ts";
import { bytesOfHex } from "./preState.ts";

/** Expected output, undefined when the call must fail, and gas, if the vector has it. */
interface Expectation {
  readonly output: string | undefined;
  readonly gas?: bigint;
}

/**
 * Precompiled contracts, under the oldest and the newest rules with that price: called directly, with a check of the gas,
 * and by a contract that returns the output.
 */
export const PRECOMPILE: Suite = {
  name: "precompile",
  total: 410,
  every: 3,
  cases: () => [...gethCases(), ...blake2Cases(), ...pointEvaluationCases()],
};

interface GethTest {
  readonly Name: string;
  readonly Input: string;
  readonly Expected?: string;
  readonly ExpectedError?: string;
  readonly Gas?: number;
}

/** By file name: the contract, and the forks with the prices in the file. */
const FILES: Readonly<Record<string, readonly [number, ...ForkName[]]>> = {
  ecRecover: [0x01, "byzantium", "prague"],
  modexp: [0x05, "byzantium", "istanbul"],
  modexp_eip2565: [0x05, "berlin", "prague"],
  bn256Add: [0x06, "istanbul", "prague"],
  bn256ScalarMul: [0x07, "istanbul", "prague"],
  bn256Pairing: [0x08, "istanbul", "prague"],
  blake2F: [0x09, "istanbul", "prague"],
  "fail-blake2f": [0x09, "istanbul", "prague"],
  pointEvaluation: [0x0a, "cancun", "prague"],
};

function gethCases(): Case[] {
  return vectorFiles("geth-evm", "precompiles").flatMap((path) => {
    const file = path.replace(".json", "");
    const [contract, ...forks] = FILES[file] ?? [];
    if (contract === undefined) throw new Error(`no contract is known for ${path}`);
    return readVectorJson<readonly GethTest[]>("geth-evm", "precompiles", path).flatMap((test) => {
      const { Name, Input, Expected, ExpectedError, Gas } = test;
      const expectation = {
        output: ExpectedError === undefined ? Expected : undefined,
        ...(Gas !== undefined && { gas: BigInt(Gas) }),
      };
      return forks.flatMap((fork) => casesFor(`${file} ${Name}`, contract, fork, Input, expectation));
    });
  });
}

function blake2Cases(): Case[] {
  type Blake2Test = { readonly input: string; readonly expected: string };
  return readVectorJson<readonly Blake2Test[]>("besu-core", "eip152-blake2f.json").flatMap(
    ({ input, expected }, index) =>
      casesFor(`eip152-blake2f ${index}`, 0x09, "prague", input, { output: expected }),
  );
}

interface PointEvaluationTests {
  readonly PrecompileReturnValue: string;
  readonly TestCases: readonly {
    readonly Input: string;
    readonly FailureMode: string;
    readonly Valid: boolean;
  }[];
}

function pointEvaluationCases(): Case[] {
  const file = readVectorJson<PointEvaluationTests>("besu-core", "pointEvaluationPrecompile.json");
  return file.TestCases.flatMap(({ Input, FailureMode, Valid }, index) =>
    casesFor(`pointEvaluationPrecompile ${index} ${FailureMode || "valid"}`, 0x0a, "cancun", Input, {
      output: Valid ? file.PrecompileReturnValue : undefined,
    }),
  );
}

function casesFor(
  name: string,
  contract: number,
  fork: ForkName,
  input: string,
  expected: Expectation,
): Case[] {
  const to = addressFromHex(`0x${contract.toString(16).padStart(40, "0")}`);
  const data = bytesOfHex(input);
  return [
    { id: `${name} ${fork}`, run: () => checkCalled(to, fork, data, expected) },
    { id: `${name} ${fork}, by a contract`, run: () => checkCalledByContract(to, fork, data, expected) },
  ];
}

/** Much more than a block has. */
const GAS_LIMIT = 10n ** 9n;

async function checkCalled(
  to: Address,
  fork: ForkName,
  data: Uint8Array,
  expected: Expectation,
): Promise<Failure | undefined> {
  const { outcome, output, gasUsed } = await runMessage({ fork, to, data, gasLimit: GAS_LIMIT });
  if (expected.output === undefined) {
    if (outcome.kind !== "halted") return `${outcome.kind}, expected a failure`;
    return gasUsed === GAS_LIMIT ? undefined : `failed for ${gasUsed} gas, expected all there was`;
  }
  if (outcome.kind !== "succeeded") return outcome.kind === "halted" ? outcome.reason : outcome.kind;
  if (toHex(output) !== `0x${expected.output}`) return `${toHex(output)}, expected ${expected.output}`;
  return expected.gas === undefined || gasUsed === expected.gas
    ? undefined
    : `${gasUsed} gas, expected ${expected.gas}`;
}

/** Checks the output: a word for success, a word for the length of the returned data, and the data. */
async function checkCalledByContract(
  contract: Address,
  fork: ForkName,
  data: Uint8Array,
  expected: Expectation,
): Promise<Failure | undefined> {
  const { outcome, output } = await runMessage({
    fork,
    to: CONTRACT,
    code: forwarder(contract),
    data,
    gasLimit: GAS_LIMIT,
  });
  if (outcome.kind !== "succeeded") return `the calling contract: ${outcome.kind}`;
  const bytes = expected.output === undefined ? new Uint8Array(0) : bytesOfHex(expected.output);
  const hasSucceeded = expected.output === undefined ? 0n : 1n;
  const wanted = toHex(
    concatBytes(bigintToFixedBytes(hasSucceeded, 32), bigintToFixedBytes(BigInt(bytes.length), 32), bytes),
  );
  return toHex(output) === wanted ? undefined : `by a contract: ${toHex(output)}, expected ${wanted}`;
}

/** Code that calls `contract` with its own input, and returns what checkCalledByContract expects. */
function forwarder(contract: Address): Uint8Array {
  return concatBytes(
    // CALLDATACOPY(0, 0, CALLDATASIZE); CALL(GAS, contract, 0, 0, CALLDATASIZE, 0, 0)
    hexToBytes("0x36600060003760006000366000600073"),
    contract,
    hexToBytes("0x5af1"),
    // MSTORE(0, success); MSTORE(32, RETURNDATASIZE)
    hexToBytes("0x6000523d602052"),
    // RETURNDATACOPY(64, 0, RETURNDATASIZE); RETURN(0, 64 + RETURNDATASIZE)
    hexToBytes("0x3d600060403e3d6040016000f3"),
  );
}
