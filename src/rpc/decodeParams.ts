import { expectDefined } from "../primitives/assert.ts";
import { ERRORS, type RpcError } from "./errors/errors.ts";
import type { MethodDescription } from "./method.ts";
import type { Params } from "./request.ts";

/** Values of the declared parameters, or the error for those that cannot be decoded. */
export function decodeParams(
  { parameters, exactParams }: Pick<MethodDescription, "parameters" | "exactParams">,
  params: Params,
): readonly unknown[] | RpcError {
  if (exactParams !== undefined && params.length !== exactParams) return ERRORS.invalidParams;
  if (parameters.length === 0) return NO_VALUES;
  const values: unknown[] = [];
  for (let index = 0; index < parameters.length; index++) {
    const { decode, isRequired, isRest, explain } = expectDefined(parameters[index], "a parameter");
    const given = isRest === true ? params.slice(index) : params[index];
    const isAbsent = given === undefined || given === null;
    const value = isAbsent ? undefined : decode(given);
    if (value === undefined && (isRequired || !isAbsent)) return explain?.(given) ?? ERRORS.invalidParams;
    values.push(value);
  }
  return values;
}

const NO_VALUES: readonly unknown[] = [];
