import { type Json, type JsonMember, parseJson } from "../../chainspec/json.ts";
import { includesBytes, parseHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";

/** The input of `operator generate-blockchain-config` (options.md#commands). */
export interface BlockchainConfig {
  /** The genesis section of the input, unchanged. */
  readonly genesis: JsonObject;
  readonly nodes: { readonly generate: number } | { readonly publicKeys: readonly Uint8Array[] };
}

type JsonObject = Extract<Json, { kind: "object" }>;

/** Most nodes to generate: more than any network has validators. */
const MOST_NODES = 10_000;

export function readBlockchainConfig(text: string): Result<BlockchainConfig, "badConfig"> {
  const json = parseJson(text);
  if (!json.ok) return bad(`The configuration file is not JSON: ${json.error.message}.`);
  const genesis = objectIn(json.value, "genesis");
  if (genesis === undefined) return bad('The configuration file has no "genesis" section.');
  if (objectIn(genesis, "config") === undefined) return bad('The genesis section has no "config" section.');
  const nodes = objectIn(objectIn(json.value, "blockchain"), "nodes");
  if (nodes === undefined) return bad('The configuration file has no "nodes" in a "blockchain" section.');
  const read = readNodes(nodes);
  return read.ok ? ok({ genesis, nodes: read.value }) : read;
}

function readNodes(nodes: JsonObject): Result<BlockchainConfig["nodes"], "badConfig"> {
  const generate = memberOf(nodes, "generate");
  const isGenerated = generate?.kind === "boolean" && generate.value;
  return isGenerated ? readCount(memberOf(nodes, "count")) : readKeys(memberOf(nodes, "keys"));
}

function readCount(count: Json | undefined): Result<BlockchainConfig["nodes"], "badConfig"> {
  const generate = count?.kind === "number" ? Number(count.text) : Number.NaN;
  if (Number.isInteger(generate) && generate > 0 && generate <= MOST_NODES) return ok({ generate });
  return bad(`The number of nodes to generate ("count") must be a whole number from 1 to ${MOST_NODES}.`);
}

function readKeys(keys: Json | undefined): Result<BlockchainConfig["nodes"], "badConfig"> {
  if (keys?.kind !== "array" || keys.items.length === 0)
    return bad('"nodes" needs either "generate": true with a "count", or "keys": a list of public keys.');
  const publicKeys: Uint8Array[] = [];
  for (const [index, item] of keys.items.entries()) {
    const bytes = item.kind === "string" ? parseHex(item.text) : undefined;
    if (bytes?.length !== 64)
      return bad(`Key ${index} of "keys" is not a public key of 128 hexadecimal digits.`);
    if (includesBytes(publicKeys, bytes)) return bad(`Key ${index} of "keys" is a duplicate.`);
    publicKeys.push(bytes);
  }
  return ok({ publicKeys });
}

/** Keys match in any case, as in a genesis file. */
function memberOf(object: JsonObject, key: string): Json | undefined {
  return object.members.find((member) => isNamed(member, key))?.value;
}

function objectIn(json: Json | undefined, key: string): JsonObject | undefined {
  const value = json?.kind === "object" ? memberOf(json, key) : undefined;
  return value?.kind === "object" ? value : undefined;
}

function isNamed(member: JsonMember, key: string): boolean {
  return member.key.toLowerCase() === key.toLowerCase();
}

/** The genesis file with its extra data set or replaced; numbers keep their spelling. */
export function genesisText(genesis: JsonObject, extraData: string): string {
  const member: JsonMember = {
    key: "extraData",
    at: 0,
    value: { kind: "string", at: 0, text: extraData },
  };
  const place = genesis.members.findIndex((each) => isNamed(each, "extraData"));
  const members = place < 0 ? [...genesis.members, member] : genesis.members.with(place, member);
  return `${printJson({ ...genesis, members }, "")}\n`;
}

function printJson(json: Json, indent: string): string {
  const deeper = `${indent}  `;
  switch (json.kind) {
    case "object": {
      const lines = json.members.map(
        ({ key, value }) => `${deeper}${JSON.stringify(key)}: ${printJson(value, deeper)}`,
      );
      return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n${indent}}`;
    }
    case "array": {
      const lines = json.items.map((item) => `${deeper}${printJson(item, deeper)}`);
      return lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n${indent}]`;
    }
    case "string":
      return JSON.stringify(json.text);
    case "number":
      return json.text;
    case "boolean":
      return String(json.value);
    case "null":
      return "null";
  }
}

function bad(message: string): Result<never, "badConfig"> {
  return fail("caller", "badConfig", message);
}
