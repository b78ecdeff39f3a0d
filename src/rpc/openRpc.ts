import type { JsonSchema, MethodDescription, Parameter } from "./method.ts";

/** Version of the OpenRPC specification that the document follows. */
const OPENRPC_VERSION = "1.2.6";

/**
 * The methods as an OpenRPC document, built from the same table as the dispatcher, so that the two cannot differ. A method
 * is listed under each of its names.
 */
export function openRpcDocument(
  methods: readonly MethodDescription[],
  info: { readonly title: string; readonly version: string },
): object {
  return {
    openrpc: OPENRPC_VERSION,
    info,
    methods: methods
      .flatMap((method) => [method.name, ...(method.aliases ?? [])].map((name) => describe(method, name)))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function describe(method: MethodDescription, name: string) {
  const { namespace, alsoIn = [], summary, parameters, exactParams = 0, result } = method;
  const groups = namespace === "EVERY" ? [] : [namespace, ...alsoIn];
  return {
    name,
    summary,
    tags: groups.map((group) => ({ name: group })),
    paramStructure: "by-position",
    params: parameters.map((parameter, index) => describeParameter(parameter, index < exactParams)),
    result: { name: result.name, schema: result.schema },
  };
}

/**
 * Where the number of parameters is exact, each one is required. OpenRPC cannot express a variable number of parameters,
 * so the description says it.
 */
function describeParameter(
  { name, isRequired, isRest, schema }: Parameter<unknown>,
  isExact: boolean,
): {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
} {
  return {
    name,
    ...(isRest === true && { description: "Any number of these, each a parameter of its own." }),
    required: isRequired || isExact,
    schema,
  };
}
