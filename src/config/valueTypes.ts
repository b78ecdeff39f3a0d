import { isIP } from "node:net";
import { type Address, asAddress } from "../primitives/address.ts";
import { parseHex, toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";

/**
 * Parses an option's text. Every source (command line, environment, TOML) is first brought to the form of the command
 * line, so that a value means the same in all of them.
 */
export interface ValueType<T> {
  /** A switch without a value is true; a list may be repeated and is split at commas. */
  readonly arity: "switch" | "single" | "list";
  /** Placeholder for the value in the help and in messages, such as <PORT>. */
  readonly label: string;
  /** Description of accepted values. */
  readonly accepts: string;
  /** What a shell can complete a value to: words, or names of files. Absent where only the user knows the value. */
  readonly offers?: readonly string[] | "files";
  /** The error has the reason alone, worded so that it can follow "Invalid value for option '--x': ". */
  read(text: string): Result<T, "badValue">;
  /** The value as a user would write it. */
  show(value: T): string;
}

interface WholeNumberRange {
  readonly label: string;
  readonly unit?: string;
  readonly min?: bigint;
  readonly max?: bigint;
  /** Besu's name of the number's type in messages; "a long" by default. */
  readonly kind?: string;
  /** Besu's own value type, which has a different error text: PositiveNumber, Percentage, Wei. */
  readonly convertsTo?: string;
}

const MAX_INT = 2n ** 31n - 1n;
const MAX_LONG = 2n ** 63n - 1n;
const WHOLE_NUMBER = /^[+-]?\d+(_\d+)*$/;

export const switchType: ValueType<boolean> = {
  arity: "switch",
  label: "<true|false>",
  accepts: "true or false",
  offers: ["true", "false"],
  read: (text) => {
    const word = text.toLowerCase();
    return word === "true" || word === "false" ? ok(word === "true") : bad(`'${text}' is not a boolean`);
  },
  show: String,
};

/** Whole numbers that may exceed 2^53, such as wei and gas: decimal digits, with underscores allowed between them. */
export function bigintType(range: WholeNumberRange): ValueType<bigint> {
  const { label, unit, min = 0n, max, kind = "a long", convertsTo } = range;
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const badNumber = (text: string, reason: string) =>
    bad(
      convertsTo === undefined
        ? `'${text}' is ${reason}`
        : `cannot convert '${text}' to ${convertsTo} (it is ${reason})`,
    );
  return {
    arity: "single",
    label,
    accepts: `a whole number ${bounds}${unit === undefined ? "" : ` (${unit})`}`,
    read: (text) => {
      if (!WHOLE_NUMBER.test(text)) return badNumber(text, `not ${kind}`);
      const value = BigInt(text.replace("+", "").replaceAll("_", ""));
      if (value < min) return badNumber(text, `below ${min}`);
      if (max !== undefined && value > max) return badNumber(text, `above ${max}`);
      return ok(value);
    },
    show: String,
  };
}

/** Besu's int: up to 2^31 - 1 unless `max` says otherwise. */
export function integerType(range: WholeNumberRange): ValueType<number> {
  const wide = bigintType({ kind: "an int", ...range, max: range.max ?? MAX_INT });
  return {
    ...wide,
    read: (text) => {
      const value = wide.read(text);
      return value.ok ? ok(Number(value.value)) : value;
    },
    show: String,
  };
}

export const portType = integerType({ label: "<PORT>", min: 0n, max: 65535n });

/** Blocks below the head that are kept: `all`, or a number of at least `min`; `because` says why not fewer. */
export function historyType({
  min,
  because,
}: {
  readonly min: bigint;
  readonly because: string;
}): ValueType<bigint | "all"> {
  const blocks = bigintType({ label: "<BLOCKS>", unit: "blocks", max: MAX_INT });
  return {
    ...blocks,
    accepts: `all, or a number of blocks from ${min} to ${MAX_INT}`,
    offers: ["all"],
    read: (text) => {
      if (text.toLowerCase() === "all") return ok("all");
      const value = blocks.read(text);
      return value.ok && value.value < min ? bad(`'${text}' is below ${min}: ${because}`) : value;
    },
    show: String,
  };
}

/** Besu's long (63 bits) and its wei amounts (256 bits). */
export const longType = bigintType({ label: "<INTEGER>", max: MAX_LONG });
export const weiType = bigintType({
  label: "<WEI>",
  unit: "wei",
  max: 2n ** 256n - 1n,
  kind: "a whole number",
  convertsTo: "Wei",
});
export const countType = integerType({ label: "<COUNT>" });
export const percentType = integerType({
  label: "<PERCENT>",
  unit: "percent",
  max: 100n,
  convertsTo: "Percentage",
});
/** Besu's PositiveNumber: an int above 0. */
export function positiveType({ label, unit }: { label: string; unit: string }): ValueType<number> {
  return integerType({ label, unit, min: 1n, convertsTo: "PositiveNumber" });
}

export const millisecondsType = integerType({ label: "<MILLISECONDS>", unit: "milliseconds" });
export const secondsType = integerType({ label: "<SECONDS>", unit: "seconds", min: 1n });
export const connectionsType = integerType({ label: "<COUNT>", unit: "connections", min: 1n });

export function decimalType(range: { label: string; min: number; max: number }): ValueType<number> {
  const { label, min, max } = range;
  return {
    arity: "single",
    label,
    accepts: `a number from ${min} to ${max}`,
    read: (text) => {
      if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return bad(`'${text}' is not a double`);
      const value = Number(text);
      if (value < min || value > max) return bad(`'${text}' is not between ${min} and ${max}`);
      return ok(value);
    },
    show: String,
  };
}

export function textType({ label, accepts }: { label: string; accepts: string }): ValueType<string> {
  return {
    arity: "single",
    label,
    accepts,
    read: (text) => (text.trim() === "" ? bad("it is empty") : ok(text)),
    show: String,
  };
}

/** A symbol as wallets take it (EIP-3085). */
export const coinSymbolType: ValueType<string> = {
  arity: "single",
  label: "<SYMBOL>",
  accepts: "a symbol of 1 to 11 letters, digits, dots or dollar signs",
  read: (text) => (/^[A-Za-z0-9.$]{1,11}$/.test(text) ? ok(text) : bad("it is no such symbol")),
  show: String,
};

export const pathType: ValueType<string> = {
  ...textType({ label: "<PATH>", accepts: "a path" }),
  offers: "files",
};
export const hostType = textType({ label: "<HOST>", accepts: "a host name or an IP address" });

/** One of the choices, in any case; the value has the case given here. */
export function choiceType<const C extends string>(choices: readonly C[]): ValueType<C> {
  return {
    arity: "single",
    label: "<NAME>",
    accepts: `one of ${choices.join(", ")}`,
    offers: choices,
    read: (text) => {
      const choice = choices.find((each) => each.toLowerCase() === text.toLowerCase());
      return choice !== undefined
        ? ok(choice)
        : bad(`expected one of [${choices.join(", ")}] (case-insensitive) but was '${text}'`);
    },
    show: String,
  };
}

export const addressType: ValueType<Address> = {
  arity: "single",
  label: "<ADDRESS>",
  accepts: "an address of 40 hexadecimal digits",
  read: (text) => {
    const bytes = parseHex(text);
    return bytes?.length === 20 ? ok(asAddress(bytes)) : bad(`'${text}' is not an address`);
  },
  show: toHex,
};

export function bytesType({ maxBytes }: { readonly maxBytes: number }): ValueType<Uint8Array> {
  return {
    arity: "single",
    label: "<HEX>",
    accepts: `at most ${maxBytes} bytes in hexadecimal digits`,
    read: (text) => {
      const bytes = parseHex(text);
      if (bytes === undefined) return bad(`'${text}' is not hexadecimal bytes`);
      if (bytes.length > maxBytes) return bad(`'${text}' has ${bytes.length} bytes, more than ${maxBytes}`);
      return ok(bytes);
    },
    show: toHex,
  };
}

/** Items separated by commas; spaces around them are ignored. An empty text is an empty list. */
export function listType<T>(item: ValueType<T>, label: string): ValueType<readonly T[]> {
  return {
    arity: "list",
    label,
    accepts: `a list separated by commas: ${item.accepts}`,
    ...(item.offers !== undefined && { offers: item.offers }),
    read: (text) => {
      const items: T[] = [];
      for (const part of text.trim() === "" ? [] : text.split(",")) {
        const value = item.read(part.trim());
        if (!value.ok) return value;
        items.push(value.value);
      }
      return ok(items);
    },
    show: (items) => items.map(item.show).join(","),
  };
}

export const textListType = listType(textType({ label: "<TEXT>", accepts: "text" }), "<TEXT,...>");

/**
 * Host names or origins. `*` and `all` match everything and become ["*"]; `none` becomes []. None of these may be
 * combined with names (options.md#value-types).
 */
export function openListType(noun: "Hostname" | "Domain"): ValueType<readonly string[]> {
  const plural = noun === "Hostname" ? "hostnames" : "domains";
  return {
    arity: "list",
    label: `<${noun.toUpperCase()},...>`,
    accepts: `a list of ${plural} separated by commas, or * or all for every one, or none`,
    offers: ["all", "none"],
    read: (text) => {
      const names = text.split(",").map((name) => name.trim());
      if (names.includes("")) return bad(`${noun} cannot be empty string or null string.`);
      const isOpen = names.some((name) => name === "*" || name === "all");
      if (names.length > 1 && isOpen) return bad(`Values '*' or 'all' can't be used with other ${plural}`);
      if (names.length > 1 && names.includes("none"))
        return bad(`Value 'none' can't be used with other ${plural}`);
      if (isOpen) return ok(["*"]);
      return ok(names[0] === "none" ? [] : names);
    },
    show: (names) => (names.length === 0 ? "none" : names.join(",")),
  };
}

/** Like `openListType`, but of regular expressions; a page's origin must match one of them in full. */
export const originsType: ValueType<readonly string[]> = {
  ...openListType("Domain"),
  read: (text) => {
    const names = openListType("Domain").read(text);
    if (!names.ok || names.value.includes("*")) return names;
    const invalid = names.value.find((name) => !isRegularExpression(name));
    return invalid === undefined ? names : bad(`'${invalid}' is not a regular expression`);
  },
};

function isRegularExpression(text: string): boolean {
  try {
    new RegExp(`^(?:${text})$`);
    return true;
  } catch {
    return false;
  }
}

/** IP addresses, and the word `localhost` for those of this machine; `none` becomes []. */
export const addressesType: ValueType<readonly string[]> = {
  arity: "list",
  label: "<ADDRESS,...>",
  accepts: "IP addresses separated by commas, localhost among them, or none",
  offers: ["localhost", "none"],
  read: (text) => {
    const names = text.split(",").map((name) => name.trim());
    if (text.trim() === "none") return ok([]);
    const invalid = names.find((name) => name !== "localhost" && isIP(name) === 0);
    return invalid === undefined ? ok(names) : bad(`'${invalid}' is not an IP address`);
  },
  show: (names) => (names.length === 0 ? "none" : names.join(",")),
};

export function bad(reason: string): Result<never, "badValue"> {
  return fail("caller", "badValue", reason);
}
