import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Abi, Hex } from "viem";

export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

interface CompiledHere extends CompiledContract {
  /** The code of the contract itself, for a genesis file. */
  readonly runtime: Hex;
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<
    string,
    Record<
      string,
      {
        readonly abi: Abi;
        readonly evm: Readonly<Record<"bytecode" | "deployedBytecode", { readonly object: string }>>;
      }
    >
  >;
}

interface Compiler {
  compile(input: string, callbacks?: { import(path: string): { readonly contents: string } }): string;
}

/** Compiles one Solidity source and returns the named contract. */
export function compileContract(source: string, name: string, evmVersion = "cancun"): CompiledContract {
  return compileSource(source, [name], evmVersion)[name] as CompiledContract;
}

/**
 * Compiles one Solidity source with the optimiser on and returns the named contracts. Throws the compiler's message.
 */
export function compileSource<N extends string>(
  source: string,
  names: readonly N[],
  evmVersion: string,
): Readonly<Record<N, CompiledHere>> {
  const contracts = compileAll({ "source.sol": source }, evmVersion);
  const compiled = names.map((name): [N, CompiledHere] => {
    const contract = contracts[name];
    if (contract === undefined) throw new Error(`the source has no contract ${name}`);
    return [name, contract];
  });
  return Object.fromEntries(compiled) as Record<N, CompiledHere>;
}

/**
 * Compiles Solidity sources, by file name, with the optimiser on; returns all their contracts by name. What they import
 * from packages is read from node_modules. Throws the compiler's message.
 */
export function compileAll(
  sources: Readonly<Record<string, string>>,
  evmVersion: string,
): Readonly<Record<string, CompiledHere>> {
  const files = Object.keys(sources);
  const output = JSON.parse(
    (packages("solc") as Compiler).compile(
      JSON.stringify({
        language: "Solidity",
        sources: Object.fromEntries(files.map((file) => [file, { content: sources[file] }])),
        settings: {
          evmVersion,
          optimizer: { enabled: true, runs: 200 },
          outputSelection: Object.fromEntries(
            files.map((file) => [
              file,
              { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] },
            ]),
          ),
        },
      }),
      { import: (path) => ({ contents: readFileSync(packages.resolve(path), "utf8") }) },
    ),
  ) as CompilerOutput;
  const failure = output.errors?.find(({ severity }) => severity === "error");
  if (failure !== undefined) throw new Error(failure.formattedMessage);
  const contracts = files.flatMap((file) => Object.entries(output.contracts[file] ?? {}));
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]): [string, CompiledHere] => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
    ]),
  );
}

const packages = createRequire(import.meta.url);

/** A contract with events, custom errors, plain reverts, panics and an endless loop, for tests of client libraries. */
export const LEDGER_SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Ledger {
  mapping(address => uint256) public balances;
  uint256[] public entries;
  address public immutable owner = msg.sender;
  event Deposited(address indexed who, uint256 amount, string note);
  error Insufficient(uint256 have, uint256 want);
  constructor(uint256 first) payable { entries.push(first); }
  function deposit(string calldata note) external payable {
    balances[msg.sender] += msg.value;
    entries.push(msg.value);
    emit Deposited(msg.sender, msg.value, note);
  }
  function withdraw(uint256 amount) external {
    if (balances[msg.sender] < amount) revert Insufficient(balances[msg.sender], amount);
    balances[msg.sender] -= amount;
    (bool sent,) = msg.sender.call{value: amount}("");
    require(sent, "not sent");
  }
  function refuse() external pure { revert("out of order"); }
  function panic(uint256 index) external view returns (uint256) { return entries[index]; }
  function count() external view returns (uint256) { return entries.length; }
  function forever() external view returns (uint256 x) { while (true) { x += entries.length; } }
}`;
