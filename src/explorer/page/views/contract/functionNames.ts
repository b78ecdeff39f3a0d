import type { AbiFunction } from "viem";

/** Name of a function with its types, since functions of one name may differ in them. */
export function nameOf({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(({ type }) => type).join(",")})`;
}
