import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { concatBytes, parseHex } from "../../primitives/hex.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import { decodeAddress, decodeBoolean, isObject } from "../parameters/parameters.ts";

/**
 * The hash that eth_signTypedData_v4 signs (EIP-712):
 *
 *     keccak256(0x19 || 0x01 || domain separator || hash of the message)
 *
 * Arrays and nested structures are those of version 4, in which a structure that is absent counts as 32 zero bytes.
 */
export function hashTypedData({ types, primaryType, domain, message }: TypedData): Hash {
  const work = new Encoding(types);
  const separator = work.hashStruct(DOMAIN, domain, 0);
  const parts = primaryType === DOMAIN ? [] : [work.hashStruct(primaryType, message, 0)];
  return keccak256(concatBytes(PREFIX, separator, ...parts));
}

/** Typed data as its members are named in JSON. Whether the values fit the types is found out while they are hashed. */
export interface TypedData {
  readonly types: Types;
  readonly primaryType: string;
  readonly domain: Values;
  readonly message: Values;
}

/** Why typed data cannot be hashed; it repeats nothing that the caller sent. */
export class UnusableTypedData extends Error {}

/** Reads the four members; throws UnusableTypedData. */
export function readTypedData(value: unknown): TypedData {
  const given = typeof value === "string" ? parseJson(value) : value;
  if (!isObject(given)) throw new UnusableTypedData("typed data is an object, or its JSON text");
  const { types, primaryType, domain, message } = given;
  if (!isObject(types)) throw new UnusableTypedData("typed data has an object of types");
  if (typeof primaryType !== "string") throw new UnusableTypedData("typed data has a primaryType");
  if (!isObject(domain) || !isObject(message))
    throw new UnusableTypedData("typed data has an object as its domain, and one as its message");
  return { types: readTypes(types, domain), primaryType, domain, message };
}

type Values = Readonly<Record<string, unknown>>;
type Types = ReadonlyMap<string, readonly Member[]>;

interface Member {
  readonly name: string;
  readonly type: string;
}

const DOMAIN = "EIP712Domain";
const PREFIX = Uint8Array.of(0x19, 0x01);

/** Structures and members of typed data, so that its encoded types stay small: each one names all those below it. */
const MOST_TYPES = 50;
const MOST_MEMBERS = 1000;
/** Depth of structures and arrays in one another, since a structure may contain its own type. */
const MAX_DEPTH = 32;
/** Values that are encoded, those in arrays included. */
const MOST_VALUES = 20_000;
/** Characters of a type's name or a member's. */
const LONGEST_NAME = 128;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members of the domain in the order of EIP-712, for typed data that leaves its type out. */
const DOMAIN_MEMBERS: readonly Member[] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
  { name: "salt", type: "bytes32" },
];

function readTypes(given: Values, domain: Values): Types {
  const entries = Object.entries(given);
  if (entries.length > MOST_TYPES)
    throw new UnusableTypedData(`typed data has more than ${MOST_TYPES} types`);
  const types = new Map<string, readonly Member[]>();
  let members = 0;
  for (const [name, list] of entries) {
    if (!isName(name) || !Array.isArray(list))
      throw new UnusableTypedData("each type is a list of members under its name");
    members += list.length;
    if (members > MOST_MEMBERS)
      throw new UnusableTypedData(`the types have more than ${MOST_MEMBERS} members`);
    types.set(name, list.map(readMember));
  }
  if (!types.has(DOMAIN))
    types.set(
      DOMAIN,
      DOMAIN_MEMBERS.filter(({ name }) => domain[name] !== undefined),
    );
  return types;
}

function readMember(value: unknown): Member {
  const { name, type } = isObject(value) ? value : {};
  if (typeof name !== "string" || typeof type !== "string" || !isName(name) || type.length > LONGEST_NAME)
    throw new UnusableTypedData("each member of a type has a name and a type");
  return { name, type };
}

function isName(name: string): boolean {
  return name.length <= LONGEST_NAME && /^[\w$]+$/.test(name);
}

class Encoding {
  readonly #types: Types;
  readonly #typeHashes = new Map<string, Hash>();
  #values = 0;

  constructor(types: Types) {
    this.#types = types;
  }

  hashStruct(type: string, values: Values, depth: number): Hash {
    const members = this.#types.get(type);
    if (members === undefined) throw new UnusableTypedData("a type that is used is not defined");
    const words = members.map((member) => this.#encode(member.type, values[member.name], depth + 1));
    return keccak256(concatBytes(this.#typeHash(type), ...words));
  }

  #typeHash(type: string): Hash {
    const known = this.#typeHashes.get(type);
    if (known !== undefined) return known;
    const hash = keccak256(Buffer.from(this.#encodeType(type)));
    this.#typeHashes.set(type, hash);
    return hash;
  }

  /** The type, then those that it refers to, in the order of their names. */
  #encodeType(type: string): string {
    const found = new Set([type]);
    for (const each of found)
      for (const member of this.#types.get(each) ?? []) {
        const base = baseOf(member.type);
        if (this.#types.has(base)) found.add(base);
      }
    found.delete(type);
    return [type, ...[...found].sort()].map((each) => this.#describe(each)).join("");
  }

  #describe(type: string): string {
    const members = (this.#types.get(type) ?? []).map((member) => `${member.type} ${member.name}`);
    return `${type}(${members.join(",")})`;
  }

  /** The 32 bytes that stand for a value. */
  #encode(type: string, value: unknown, depth: number): Uint8Array {
    this.#values++;
    if (this.#values > MOST_VALUES) throw new UnusableTypedData(`there are more than ${MOST_VALUES} values`);
    if (depth > MAX_DEPTH) throw new UnusableTypedData(`values are nested more than ${MAX_DEPTH} deep`);
    const array = ARRAY.exec(type);
    if (array !== null) return this.#encodeArray(array, value, depth);
    if (!this.#types.has(type)) return encodeAtom(type, value);
    if (value === undefined || value === null) return new Uint8Array(32);
    if (!isObject(value)) throw new UnusableTypedData("a value of a structure is not an object");
    return this.hashStruct(type, value, depth);
  }

  #encodeArray([, item = "", length]: RegExpExecArray, value: unknown, depth: number): Uint8Array {
    if (!Array.isArray(value) || (length !== "" && value.length !== Number(length)))
      throw new UnusableTypedData("a value of an array is not a list of its length");
    return keccak256(concatBytes(...value.map((each) => this.#encode(item, each, depth + 1))));
  }
}

const ARRAY = /^(.*)\[(\d*)\]$/s;

function baseOf(type: string): string {
  const end = type.indexOf("[");
  return end < 0 ? type : type.slice(0, end);
}

function encodeAtom(type: string, value: unknown): Uint8Array {
  const encoded = atomOf(type, value);
  if (encoded === undefined)
    throw new UnusableTypedData("a value does not fit its type, or the type is unknown");
  return encoded;
}

function atomOf(type: string, value: unknown): Uint8Array | undefined {
  if (type === "string") return typeof value === "string" ? keccak256(Buffer.from(value)) : undefined;
  if (type === "bytes") {
    const bytes = bytesOf(value);
    return bytes && keccak256(bytes);
  }
  if (type === "bool") {
    const truth = decodeBoolean(value);
    return truth === undefined ? undefined : bigintToFixedBytes(truth ? 1n : 0n, 32);
  }
  if (type === "address") {
    const address = decodeAddress(value);
    return address && concatBytes(new Uint8Array(12), address);
  }
  const [, kind, digits = ""] = SIZED.exec(type) ?? [];
  if (kind === "bytes") return fixedBytes(Number(digits), value);
  if (kind === "uint" || kind === "int") return integer(kind, digits === "" ? 256 : Number(digits), value);
  return undefined;
}

const SIZED = /^(bytes|uint|int)([1-9]\d{0,2})?$/;

/** Bytes on the left of 32. */
function fixedBytes(size: number, value: unknown): Uint8Array | undefined {
  const bytes = bytesOf(value);
  if (bytes === undefined || size < 1 || size > 32 || bytes.length !== size) return undefined;
  return concatBytes(bytes, new Uint8Array(32 - size));
}

function bytesOf(value: unknown): Uint8Array | undefined {
  return typeof value === "string" && value.startsWith("0x") ? parseHex(value) : undefined;
}

function integer(kind: "uint" | "int", bits: number, value: unknown): Uint8Array | undefined {
  const number = integerOf(value);
  if (number === undefined || bits > 256 || bits % 8 !== 0) return undefined;
  const limit = 2n ** BigInt(kind === "int" ? bits - 1 : bits);
  if (number >= limit || number < (kind === "int" ? -limit : 0n)) return undefined;
  return bigintToFixedBytes(BigInt.asUintN(256, number), 32);
}

/** A JSON integer, or its decimal or hexadecimal text. */
function integerOf(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "string") return undefined;
  const [, sign, digits] = INTEGER.exec(value) ?? [];
  if (digits === undefined) return undefined;
  return sign === "-" ? -BigInt(digits) : BigInt(digits);
}

/** The digits of 256 bits, and no more. */
const INTEGER = /^(-?)(0x[\da-fA-F]{1,64}|\d{1,78})$/;
