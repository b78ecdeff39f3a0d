import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  concatHex,
  decodeAbiParameters,
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  toFunctionSelector,
  toRlp,
} from "viem";
import type { Authorization, Log } from "./types.ts";

/** A decoded call, event or error: its name, and its named values. */
export interface Decoded {
  readonly name: string;
  readonly values: readonly NamedValue[];
  /** Whether it was decoded with a standard ABI, not the contract's own. */
  readonly isGuess: boolean;
}

export interface NamedValue {
  readonly name: string;
  readonly type: string;
  readonly value: unknown;
}

/** The common functions and events of tokens and related contracts. */
const STANDARD = parseAbi([
  "function transfer(address to, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function safeTransferFrom(address from, address to, uint256 tokenId)",
  "function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)",
  "function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)",
  "function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)",
  "function setApprovalForAll(address operator, bool approved)",
  "function mint(address to, uint256 value)",
  "function burn(uint256 value)",
  "function deposit() payable",
  "function withdraw(uint256 value)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
  "event ApprovalForAll(address indexed account, address indexed operator, bool approved)",
  "event Deposit(address indexed account, uint256 value)",
  "event Withdrawal(address indexed account, uint256 value)",
  "event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)",
]);

/** Events Transfer and Approval of ERC-721, whose third value is a topic. */
const ERC721 = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
]);

export function decodeCall(input: string, abi: Abi | undefined): Decoded | undefined {
  return firstDecoded(abi, [STANDARD], (known) => {
    const { functionName, args } = decodeFunctionData({ abi: known, data: input as Hex });
    const entry = entryOf(known, "function", functionName, args?.length ?? 0);
    return { name: functionName, values: named(entry, args ?? []) };
  });
}

export function decodeLog(
  { topics, data }: Pick<Log, "topics" | "data">,
  abi: Abi | undefined,
): Decoded | undefined {
  return firstDecoded(abi, [STANDARD, ERC721], (known) => {
    const { eventName, args } = decodeEventLog({
      abi: known,
      topics: topics as [Hex, ...Hex[]],
      data: data as Hex,
    });
    const byName = (args ?? {}) as Readonly<Record<string, unknown>>;
    const inputs = entryOf(known, "event", eventName ?? "", topics.length) ?? [];
    const values = inputs.map(({ name = "", type }, index) => ({
      name,
      type,
      value: Array.isArray(args) ? args[index] : byName[name],
    }));
    return { name: eventName ?? "", values };
  });
}

/** Decodes Error(string), Panic(uint256), and the contract's own errors. */
export function decodeRevert(data: string, abi: Abi | undefined): Decoded | undefined {
  return firstDecoded(abi, [[]], (known) => {
    const { errorName, args, abiItem } = decodeErrorResult({ abi: known, data: data as Hex });
    const inputs = abiItem.type === "error" ? abiItem.inputs : [];
    return { name: errorName, values: named(inputs, (args ?? []) as readonly unknown[]) };
  });
}

/** Decodes with the contract's own ABI, or else with a standard one. Bytes that fit none are not an error. */
function firstDecoded(
  own: Abi | undefined,
  others: readonly Abi[],
  decode: (abi: Abi) => Omit<Decoded, "isGuess">,
): Decoded | undefined {
  for (const abi of own === undefined ? others : [own, ...others]) {
    try {
      return { ...decode(abi), isGuess: abi !== own && abi.length > 0 };
    } catch {
      // The next ABI may have it.
    }
  }
  return undefined;
}

function entryOf(
  abi: Abi,
  kind: "function" | "event",
  name: string,
  count: number,
): readonly AbiParameter[] | undefined {
  const entries = abi.filter((entry) => entry.type === kind && entry.name === name);
  const inputsOf = (entry: (typeof entries)[number]) => ("inputs" in entry ? (entry.inputs ?? []) : []);
  const fitting =
    kind === "function" ? entries.find((entry) => inputsOf(entry).length === count) : entries[0];
  return fitting && inputsOf(fitting);
}

function named(
  inputs: readonly AbiParameter[] | undefined,
  values: readonly unknown[],
): readonly NamedValue[] {
  return values.map((value, index) => ({
    name: inputs?.[index]?.name ?? "",
    type: inputs?.[index]?.type ?? "",
    value,
  }));
}

/** The name of the function with this selector; undefined for none, or where the ABI is malformed. */
export function methodIn(abi: Abi, selector: string): string | undefined {
  try {
    return abi.find(
      (entry): entry is AbiFunction => entry.type === "function" && toFunctionSelector(entry) === selector,
    )?.name;
  } catch {
    return undefined;
  }
}

/** The bytes of a call with these values. */
export function encodeCall(entry: AbiFunction, values: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: [entry], functionName: entry.name, args: values });
}

/** Decodes the answer of a call, value by value. */
export function decodeAnswer(entry: AbiFunction, data: string): readonly NamedValue[] {
  const { outputs } = entry;
  if (outputs.length === 0) return [];
  return named(outputs, decodeAbiParameters(outputs, data as Hex));
}

/** The hash that the signer of an authorization has signed (EIP-7702). */
export function authorizationHash({ chainId, address, nonce }: Authorization): Hex {
  return keccak256(concatHex(["0x05", toRlp([numberInRlp(chainId), address as Hex, numberInRlp(nonce)])]));
}

/** A number as whole bytes without leading zeros. */
function numberInRlp(quantity: string): Hex {
  const digits = quantity.replace(/^0x0*/, "");
  return `0x${digits.length % 2 === 0 ? "" : "0"}${digits}`;
}

/** The text in a call's answer; undefined when it is not a text. */
export function decodeText(data: string): string | undefined {
  try {
    return decodeAbiParameters([{ type: "string" }], data as Hex)[0];
  } catch {
    return undefined;
  }
}
