import { expectDefined } from "../primitives/assert.ts";
import { invalidParams, type RpcError } from "./errors/errors.ts";
import type { MethodDescription } from "./method.ts";
import type { Params } from "./request.ts";

/** Values of the declared parameters, or the error that names the first one that cannot be decoded. */
export function decodeParams(
  { parameters, exactParams }: Pick<MethodDescription, "parameters" | "exactParams">,
  params: Params,
): readonly unknown[] | RpcError {
  if (exactParams !== undefined && params.length !== exactParams)
    return invalidParams(
      `expected ${exactParams} parameter${exactParams === 1 ? "" : "s"}, not ${params.length}`,
    );
  if (parameters.length === 0) return NO_VALUES;
  const values: unknown[] = [];
  for (let index = 0; index < parameters.length; index++) {
    const { name, decode, isRequired, isRest, explain } = expectDefined(parameters[index], "a parameter");
    const given = isRest === true ? params.slice(index) : params[index];
    const isAbsent = given === undefined || given === null;
    const value = isAbsent ? undefined : decode(given);
    if (value === undefined && (isRequired || !isAbsent))
      return (
        explain?.(given) ??
        invalidParams(`parameter ${index + 1} (${name}) is ${isAbsent ? "missing" : "invalid"}`)
      );
    values.push(value);
  }
  return values;
}

const NO_VALUES: readonly unknown[] = [];
