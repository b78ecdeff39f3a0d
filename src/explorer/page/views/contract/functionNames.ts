import type { AbiFunction } from "viem";

/** Name of a function with its parameter types, which distinguish functions of the same name. */
export function nameOf({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(({ type }) => type).join(",")})`;
}
