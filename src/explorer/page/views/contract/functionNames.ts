import type { AbiFunction } from "viem";

/** With the types, since functions of one name may differ in them. */
export function nameOf({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(({ type }) => type).join(",")})`;
}
