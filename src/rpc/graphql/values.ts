import {
  type ArgumentNode,
  Kind,
  type ObjectValueNode,
  type OperationDefinitionNode,
  type ValueNode,
  type VariableDefinitionNode,
} from "graphql";
import { expectDefined } from "../../primitives/assert.ts";
import { aborted, FieldError, locationOf, Refusal } from "./graphQlError.ts";
import { javaSimpleName, valueText } from "./javaText.ts";
import { NoValue, readLiteral, readValue } from "./scalars.ts";
import {
  type InputValue,
  isNonNull,
  type NamedType,
  nullableOf,
  printType,
  type TypeRef,
  typeOfNode,
} from "./schema.ts";

/** Values by name: numbers as bigint, bytes as bytes. A name that is absent was not given. */
export type Values = Readonly<Record<string, unknown>>;

/** The values of the operation's variables. Throws a Refusal when one is none of its type. */
export function readVariables(
  operation: OperationDefinitionNode,
  given: Values,
): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  const count = new ItemCount();
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = expectDefined(typeOfNode(definition.type), "the type of a variable");
    const value = readVariable(
      definition,
      type,
      { isGiven: Object.hasOwn(given, name), value: given[name] },
      count,
    );
    if (value instanceof NoValue) throw noVariable(definition, value);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/** The value; undefined when there is none. */
function readVariable(
  { variable, defaultValue }: VariableDefinitionNode,
  type: TypeRef,
  { isGiven, value }: { readonly isGiven: boolean; readonly value: unknown },
  count: ItemCount,
): unknown {
  if (!isGiven && defaultValue !== undefined) return literalValue(type, defaultValue, new Map());
  if (isNonNull(type) && (value === undefined || value === null))
    return new NoValue(
      `Variable '${variable.name.value}' has coerced Null value for NonNull type '${printType(type)}'`,
    );
  if (!isGiven || value === undefined) return undefined;
  return value === null ? null : externalValue(type, value, count);
}

function noVariable(definition: VariableDefinitionNode, { message, isBare }: NoValue): Refusal {
  const extensions = { classification: "ValidationError" };
  if (isBare) return new Refusal(400, [{ message, extensions }]);
  const named = `Variable '${definition.variable.name.value}' has an invalid value: ${message}`;
  return new Refusal(400, [{ message: named, locations: [locationOf(definition)], extensions }]);
}

/** Bounds the items of lists and the members of objects among the variables, all of which are read in one step. */
class ItemCount {
  private items = 0;

  /** Throws a Refusal when there are too many. */
  add(): void {
    if (++this.items > MOST_ITEMS) throw aborted(`The variables have more than ${MOST_ITEMS} items in lists`);
  }
}

/** No literals of a query can have more (readQuery.ts). */
const MOST_ITEMS = 15_000;

/** A value of JSON as one of the type. */
function externalValue(type: TypeRef, given: unknown, count: ItemCount): unknown {
  if (isNonNull(type)) {
    const value = externalValue(type.ofType, given, count);
    return value === null ? new NoValue(`Coerced Null value for NonNull type '${printType(type)}'`) : value;
  }
  if (given === null || given === undefined) return null;
  if ("ofType" in type) {
    const values: unknown[] = [];
    for (const item of Array.isArray(given) ? given : [given]) {
      count.add();
      const value = externalValue(type.ofType, item, count);
      if (value instanceof NoValue) return value;
      values.push(value);
    }
    return values;
  }
  return type.kind === "INPUT_OBJECT" ? externalObject(type, given, count) : readValue(type, given);
}

function externalObject(
  { name: typeName, inputFields }: NamedType,
  given: unknown,
  count: ItemCount,
): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return new NoValue(
      `Expected type 'Map' but was '${javaSimpleName(given)}'. Variables for input objects must be an instance of type 'Map'.`,
    );
  const members = given as Values;
  for (const name of Object.keys(members))
    if (!inputFields.has(name))
      return new NoValue(
        `The variables input contains a field name '${valueText(name)}' that is not defined for input object type '${typeName}' `,
        true,
      );
  const values: Record<string, unknown> = {};
  for (const { name, type } of inputFields.values()) {
    if (!Object.hasOwn(members, name)) continue;
    count.add();
    const value = externalValue(type, members[name], count);
    if (value instanceof NoValue) return value;
    values[name] = value;
  }
  return values;
}

/** The value of a literal that validation has accepted, with variables put in; undefined for a variable that has no value. */
function literalValue(type: TypeRef, node: ValueNode, variables: ReadonlyMap<string, unknown>): unknown {
  if (node.kind === Kind.VARIABLE) return variables.get(node.name.value);
  if (node.kind === Kind.NULL) return null;
  const nullable = nullableOf(type);
  if ("ofType" in nullable) {
    const nodes = node.kind === Kind.LIST ? node.values : [node];
    return nodes.map((item) => literalValue(nullable.ofType, item, variables) ?? null);
  }
  if (nullable.kind === "INPUT_OBJECT") return literalObject(nullable, node as ObjectValueNode, variables);
  return readLiteral(nullable, node);
}

function literalObject(
  { inputFields }: NamedType,
  { fields }: ObjectValueNode,
  variables: ReadonlyMap<string, unknown>,
): Values {
  const values: Record<string, unknown> = {};
  for (const { name, value: node } of fields) {
    const type = inputFields.get(name.value)?.type;
    const value = type && literalValue(type, node, variables);
    if (value !== undefined) values[name.value] = value;
  }
  return values;
}

/** The values of arguments. Throws a FieldError when an argument that must be there is null. */
export function readArguments(
  definitions: ReadonlyMap<string, InputValue>,
  nodes: readonly ArgumentNode[] = [],
  variables: ReadonlyMap<string, unknown>,
): Values {
  const values: Record<string, unknown> = {};
  for (const { name, type, defaultValue } of definitions.values()) {
    const node = nodes.find((each) => each.name.value === name)?.value;
    const value = node && literalValue(type, node, variables);
    if (value === undefined && defaultValue !== undefined)
      values[name] = literalValue(type, defaultValue, variables);
    else if (isNonNull(type) && (value === undefined || value === null))
      throw new FieldError(`Argument '${name}' has coerced Null value for NonNull type '${printType(type)}'`);
    else if (value !== undefined) values[name] = value;
  }
  return values;
}
