import { Kind, type ValueNode } from "graphql";

/*
 * Values as they are quoted in messages: graphql-java shows a literal, and Java a value of JSON, by their `toString`. A text is cut
 * off beyond some length, because a query may have a megabyte and its answer many messages.
 */

export function literalText(node: ValueNode): string {
  return cut(fullLiteral(node));
}

export function valueText(value: unknown): string {
  return cut(fullValue(value));
}

/** The names from the root to a place, with a slash between two. */
export function pathText(names: readonly string[]): string {
  return cut(joined(names, begin, "/"));
}

/** Longest text of a value in a message; Besu has no limit. */
const LONGEST = 1_024;

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** The part of a text that a message can show: texts made of it, and parts of these that V8 keeps with the whole, remain short. */
function begin(text: string): string {
  return text.slice(0, LONGEST + 1);
}

function fullLiteral(node: ValueNode): string {
  switch (node.kind) {
    case Kind.STRING:
      return `StringValue{value='${begin(node.value)}'}`;
    case Kind.INT:
      return `IntValue{value=${node.value === "-0" ? "0" : begin(node.value)}}`;
    case Kind.FLOAT:
      return `FloatValue{value=${begin(node.value)}}`;
    case Kind.BOOLEAN:
      return `BooleanValue{value=${node.value}}`;
    case Kind.NULL:
      return "NullValue{}";
    case Kind.ENUM:
      return `EnumValue{name='${begin(node.value)}'}`;
    case Kind.VARIABLE:
      return `VariableReference{name='${begin(node.name.value)}'}`;
    case Kind.LIST:
      return `ArrayValue{values=[${joined(node.values, fullLiteral)}]}`;
    case Kind.OBJECT:
      return `ObjectValue{objectFields=[${joined(
        node.fields,
        ({ name, value }) => `ObjectField{name='${begin(name.value)}', value=${fullLiteral(value)}}`,
      )}]}`;
  }
}

function fullValue(value: unknown): string {
  if (Array.isArray(value)) return `[${joined(value, fullValue)}]`;
  if (typeof value !== "object" || value === null) return begin(String(value));
  return `{${joined(Object.entries(value), ([name, member]) => `${begin(name)}=${fullValue(member)}`)}}`;
}

/** The items' texts, as many as a message has room for. */
function joined<T>(items: readonly T[], textOf: (item: T) => string, between = ", "): string {
  let text = "";
  for (const [index, item] of items.entries()) {
    if (text.length > LONGEST) break;
    text += index === 0 ? textOf(item) : between + textOf(item);
  }
  return text;
}

/** Name of the class that Java reads a value of JSON into. */
export function javaSimpleName(given: unknown): string {
  if (typeof given === "string") return "String";
  if (typeof given === "boolean") return "Boolean";
  if (typeof given === "number") return Number.isInteger(given) ? "Integer" : "Double";
  return Array.isArray(given) ? "ArrayList" : "LinkedHashMap";
}
