import { asHash, type Hash } from "../primitives/hash.ts";
import { parseHex, toHex } from "../primitives/hex.ts";
import { ok } from "../primitives/result.ts";
import { bad, type ValueType } from "./valueTypes.ts";

/**
 * Lists of KEY=VALUE (options.md#value-types). The last value of a repeated key wins. An empty value is kept, because
 * --override-genesis-config uses it to remove a key.
 */
function mapType<K, V>(parts: {
  readonly label: string;
  readonly accepts: string;
  /** Undefined for an invalid key. */
  readonly readKey: (text: string) => K | undefined;
  /** Undefined for an invalid value. */
  readonly readValue: (text: string) => V | undefined;
  readonly showValue: (value: V) => string;
}): ValueType<ReadonlyMap<K, V>> {
  const { label, accepts, readKey, readValue, showValue } = parts;
  return {
    arity: "list",
    label,
    accepts: `a list separated by commas: ${accepts}`,
    read: (text) => {
      const entries = new Map<K, V>();
      for (const part of text.trim() === "" ? [] : text.split(",")) {
        const equals = part.indexOf("=");
        if (equals < 0) return bad(`'${part.trim()}' should be in KEY=VALUE[,KEY=VALUE]... format`);
        const key = readKey(part.slice(0, equals).trim());
        const value = readValue(part.slice(equals + 1).trim());
        if (key === undefined || value === undefined) return bad(`'${part.trim()}' is not ${accepts}`);
        entries.set(key, value);
      }
      return ok(entries);
    },
    show: (entries) => [...entries].map(([key, value]) => `${key}=${showValue(value)}`).join(","),
  };
}

/** Block numbers with the hash that the block must have. */
export const blockHashesType = mapType<bigint, Hash>({
  label: "<NUMBER=HASH,...>",
  accepts: "a block number, = and a block hash of up to 64 hexadecimal digits",
  readKey: (text) => (/^\d+$/.test(text) ? BigInt(text) : undefined),
  readValue: (text) => {
    // Besu pads short hashes on the left, and its own example relies on it.
    const [, digits] = /^(?:0x)?([0-9a-f]{1,64})$/i.exec(text) ?? [];
    const bytes = digits === undefined ? undefined : parseHex(digits.padStart(64, "0"));
    return bytes === undefined ? undefined : asHash(bytes);
  },
  showValue: toHex,
});

/** Keys of the genesis file's config, in lower case, and their new values. */
export const genesisOverridesType = mapType<string, string>({
  label: "<KEY=VALUE,...>",
  accepts: "a key of the genesis file's config, = and a value",
  readKey: (text) => (/^\w+$/.test(text) ? text.toLowerCase() : undefined),
  readValue: (text) => text,
  showValue: String,
});
