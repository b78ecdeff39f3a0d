import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { locationOf, Refusal } from "./graphQlError.ts";
import { valueText } from "./javaText.ts";
import { DIRECTIVES, MUTATION, type NamedType, QUERY } from "./schema.ts";
import { readArguments, readVariables, type Values } from "./values.ts";

/** What a request asks for, of a query that is valid. */
export interface Operation {
  readonly selectionSet: SelectionSetNode;
  readonly rootType: NamedType;
  readonly variables: ReadonlyMap<string, unknown>;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The operation of that name with its variables. Throws a Refusal when there is none, or a variable is not of its type. */
export function operationOf(document: DocumentNode, name: string | undefined, given: Values): Operation {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const operations = new Map<string | undefined, OperationDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.set(definition.name?.value, definition);
  }
  const operation = choose(operations, name);
  const variables = readVariables(operation, given);
  return { selectionSet: operation.selectionSet, rootType: rootTypeOf(operation), variables, fragments };
}

/** Besu answers a name that is missing or unknown with status 500. */
function choose(
  operations: ReadonlyMap<string | undefined, OperationDefinitionNode>,
  name: string | undefined,
): OperationDefinitionNode {
  if (name === undefined && operations.size > 1)
    throw new Refusal(500, [
      { message: "Must provide operation name if query contains multiple operations." },
    ]);
  const [first] = operations.values();
  const chosen = name === undefined || name === "" ? first : operations.get(name);
  if (chosen === undefined)
    throw new Refusal(500, [{ message: `Unknown operation named '${valueText(name)}'.` }]);
  return chosen;
}

function rootTypeOf(operation: OperationDefinitionNode): NamedType {
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION)
    return operation.operation === OperationTypeNode.MUTATION ? MUTATION : QUERY;
  throw new Refusal(400, [
    {
      message: "Schema is not configured for subscriptions.",
      locations: [locationOf(operation)],
      extensions: { classification: "OperationNotSupported" },
    },
  ]);
}

/** Whether the directives of a selection let it take part. */
export function isIncluded({ directives = [] }: SelectionNode, variables: Operation["variables"]): boolean {
  if (directives.length === 0) return true;
  return (
    condition("skip", directives, variables) !== true && condition("include", directives, variables) !== false
  );
}

function condition(
  name: "skip" | "include",
  directives: readonly DirectiveNode[],
  variables: Operation["variables"],
): unknown {
  const node = directives.find((directive) => directive.name.value === name);
  const definition = DIRECTIVES.get(name);
  return node && definition && readArguments(definition.args, node.arguments, variables)["if"];
}
