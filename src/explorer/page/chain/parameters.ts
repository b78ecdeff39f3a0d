import type { AbiParameter } from "viem";
import { MISTYPED, readAddress } from "./addresses.ts";

/**
 * Reads a visitor's input for a parameter. Numbers may be decimal or hexadecimal; lists and structs are JSON, in which
 * numbers too large for JSON are texts. Throws an Error that explains the problem to the visitor.
 */
export function readParameter(parameter: AbiParameter, text: string): unknown {
  const { type } = parameter;
  if (type === "string") return text;
  if (/\]$|^tuple/.test(type)) return fromJson(parameter, parsed(text, type));
  return simpleValue(type, text.trim());
}

function parsed(text: string, type: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${type} is written as JSON, such as ["0x…", "2"]`);
  }
}

function fromJson(parameter: AbiParameter, value: unknown): unknown {
  const { type } = parameter;
  const item = /^(.*)\[\d*\]$/.exec(type)?.[1];
  if (item !== undefined) {
    if (!Array.isArray(value)) throw new Error(`${type} is a list`);
    return value.map((each) => fromJson({ ...parameter, type: item }, each));
  }
  if (type.startsWith("tuple")) return fromStruct(parameter, value);
  return type === "string" ? String(value) : simpleValue(type, String(value));
}

function fromStruct(parameter: AbiParameter, value: unknown): unknown {
  const components = "components" in parameter ? parameter.components : [];
  const members = value as Readonly<Record<string, unknown>>;
  if (typeof value !== "object" || value === null) throw new Error("a struct is an object or a list");
  return Array.isArray(value)
    ? components.map((component, index) => fromJson(component, value[index]))
    : Object.fromEntries(
        components.map((component) => [
          component.name ?? "",
          fromJson(component, members[component.name ?? ""]),
        ]),
      );
}

function simpleValue(type: string, text: string): unknown {
  if (/^u?int/.test(type)) return integer(type, text);
  if (type === "bool") {
    if (text !== "true" && text !== "false") throw new Error("bool is true or false");
    return text === "true";
  }
  if (type === "address") return address(text);
  if (type.startsWith("bytes") && !/^0x([0-9a-f]{2})*$/i.test(text))
    throw new Error(`${type} is hexadecimal after 0x`);
  return text.toLowerCase();
}

/** Reads an address; refuses a mistyped one, which no wallet would detect in lower case. */
function address(text: string): string {
  const reading = readAddress(text);
  if (reading.kind === "none") throw new Error("an address has forty digits after 0x");
  if (reading.kind === "mistyped") throw new Error(MISTYPED);
  return reading.address;
}

function integer(type: string, text: string): bigint {
  if (!/^(-?\d+|0x[0-9a-f]+)$/i.test(text)) throw new Error(`${type} is a whole number`);
  return BigInt(text);
}
