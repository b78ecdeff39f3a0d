import type { IncomingMessage } from "node:http";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { GraphQlRequest } from "../graphql/request.ts";
import { isObject } from "../parameters/parameters.ts";
import { parseMessage, TOO_MANY_PARTS } from "./parseMessage.ts";

/** Why a request cannot be read, as a clause. */
type Read<T> = Result<T, "undecodable">;

/** Whether the body is JSON. */
export function isJsonBody(headers: IncomingMessage["headers"]): boolean {
  return mediaType(headers)?.toLowerCase() === "application/json";
}

/** The path and the query of a request, whose target may name the host too, as for a proxy. */
export function targetOf({ url = "/" }: IncomingMessage): { readonly path: string; readonly query: string } {
  const [, path = "", query = ""] = TARGET.exec(url) ?? [];
  return { path: path === "" ? "/" : path, query };
}

const TARGET = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i;

/** The request of a GET, whose variables are the text of a JSON object. */
export function readGraphQlQuery(request: IncomingMessage): Read<GraphQlRequest> {
  const parameters = new URLSearchParams(targetOf(request).query);
  const text = parameters.get("variables");
  const variables = text === null ? ok(NO_VARIABLES) : readVariables(parseMessage(text));
  if (!variables.ok) return variables;
  return ok({
    query: parameters.get("query") ?? "",
    operationName: parameters.get("operationName") ?? undefined,
    variables: variables.value,
    ...(mayBeOfAnyPage(request.headers) && { isReadOnly: true }),
  });
}

/**
 * Whether a request may be one that any web page had sent: browsers say so of a GET without an Origin, as for an image, only where
 * the connection is encrypted or the node is on the same machine.
 */
function mayBeOfAnyPage(headers: IncomingMessage["headers"]): boolean {
  const { origin, "sec-fetch-site": site, "user-agent": program = "" } = headers;
  return origin === undefined && site !== "none" && site !== "same-origin" && program.startsWith("Mozilla/");
}

/** The request of a body that is the text of a query, as it is with any other type and without one. */
export function readGraphQlText(headers: IncomingMessage["headers"], body: string): Read<GraphQlRequest> {
  if (headers["content-type"] !== undefined && mediaType(headers) === undefined)
    return undecodable("the Content-Type is not a media type");
  return ok({ query: body.trim(), operationName: undefined, variables: NO_VARIABLES });
}

/**
 * The request of a body in JSON, which has been parsed. As in Besu, numbers and booleans are taken for their text, and other
 * members are refused, except for `extensions`, which GraphQL clients send and the standard knows.
 */
export function readGraphQlJson(value: unknown): Read<GraphQlRequest> {
  if (value === TOO_MANY_PARTS) return undecodable("the body has too many lists, objects and members");
  if (value === undefined) return undecodable("the body is not JSON, or too deep");
  if (!isObject(value)) return undecodable("the body is not an object");
  const unknown = Object.keys(value).find((member) => !MEMBERS.has(member));
  if (unknown !== undefined)
    return undecodable("the body has a member other than query, operationName, variables and extensions");
  const query = readText("query", value["query"]);
  if (!query.ok) return query;
  const operationName = readText("operationName", value["operationName"]);
  if (!operationName.ok) return operationName;
  const variables = readVariables(value["variables"] ?? null);
  if (!variables.ok) return variables;
  return ok({ query: query.value ?? "", operationName: operationName.value, variables: variables.value });
}

const MEMBERS: ReadonlySet<string> = new Set(["query", "operationName", "variables", "extensions"]);

const NO_VARIABLES: GraphQlRequest["variables"] = {};

function readText(name: string, value: unknown = null): Read<string | undefined> {
  if (value === null) return ok(undefined);
  return typeof value === "object" ? undecodable(`${name} is not a text`) : ok(String(value));
}

function readVariables(value: unknown): Read<GraphQlRequest["variables"]> {
  if (value === null) return ok(NO_VARIABLES);
  return isObject(value) ? ok(value) : undecodable("variables are not a JSON object");
}

function undecodable(reason: string): Result<never, "undecodable"> {
  return fail("caller", "undecodable", reason);
}

function mediaType({ "content-type": type = "" }: IncomingMessage["headers"]): string | undefined {
  return MEDIA_TYPE.exec(type)?.[1];
}

const MEDIA_TYPE = /^\s*([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)\s*(?:;|$)/;
