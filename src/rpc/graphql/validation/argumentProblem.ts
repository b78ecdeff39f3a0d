import { type ArgumentNode, Kind, type ObjectValueNode, type ValueNode } from "graphql";
import { literalText, valueText } from "../javaText.ts";
import { NoValue, readLiteral } from "../scalars.ts";
import { isNonNull, type NamedType, type TypeRef } from "../schema.ts";

/** Why a literal is none of its type: what, in which literal, and where within the argument. */
interface Problem {
  /** What is said after the argument and its value. */
  readonly text: string;
  /** The literal that is quoted; undefined for the argument's own. */
  readonly value: ValueNode | undefined;
  /** Members and items from the argument to the literal, such as ".addresses[0]". */
  readonly place: string;
}

/** Whether the literal can be of the type; variables can. */
export function fits(type: TypeRef, node: ValueNode): boolean {
  return problemOf(type, node) === undefined;
}

/** What graphql-java says about an argument that is none of its type; undefined when it can be one. */
export function argumentProblem({ name, value }: ArgumentNode, type: TypeRef): string | undefined {
  const problem = problemOf(type, value);
  if (problem === undefined) return undefined;
  return `argument '${name.value}${problem.place}' with value '${literalText(problem.value ?? value)}' ${problem.text}`;
}

function problemOf(type: TypeRef, node: ValueNode): Problem | undefined {
  if (node.kind === Kind.NULL)
    return isNonNull(type) ? { text: "must not be null", value: node, place: "" } : undefined;
  if (node.kind === Kind.VARIABLE) return undefined;
  if ("ofType" in type)
    return type.kind === "LIST" ? listProblem(type.ofType, node) : problemOf(type.ofType, node);
  if (type.kind === "INPUT_OBJECT") return objectProblem(type, node);
  const value = readLiteral(type, node);
  return value instanceof NoValue
    ? { text: `is not a valid '${type.name}' - ${value.message}`, value: node, place: "" }
    : undefined;
}

function listProblem(itemType: TypeRef, node: ValueNode): Problem | undefined {
  if (node.kind !== Kind.LIST) return problemOf(itemType, node);
  for (const [index, item] of node.values.entries()) {
    const problem = problemOf(itemType, item);
    if (problem !== undefined) return { ...problem, place: `[${index}]${problem.place}` };
  }
  return undefined;
}

function objectProblem(type: NamedType, node: ValueNode): Problem | undefined {
  if (node.kind !== Kind.OBJECT) return { text: "must be an object type", value: undefined, place: "" };
  return missingMember(type, node) ?? memberProblem(type, node);
}

function missingMember({ inputFields }: NamedType, { fields }: ObjectValueNode): Problem | undefined {
  const missing = [...inputFields.values()].filter(
    ({ name, type, defaultValue }) =>
      isNonNull(type) && defaultValue === undefined && !fields.some((field) => field.name.value === name),
  );
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name).join(", ");
  return { text: `is missing required fields '[${names}]'`, value: undefined, place: "" };
}

function memberProblem(
  { name: typeName, inputFields }: NamedType,
  { fields }: ObjectValueNode,
): Problem | undefined {
  for (const { name, value } of fields) {
    const input = inputFields.get(name.value);
    if (input === undefined)
      return {
        text: `contains a field not in '${typeName}': '${valueText(name.value)}'`,
        value: undefined,
        place: "",
      };
    const problem = problemOf(input.type, value);
    if (problem !== undefined) return { ...problem, place: `.${name.value}${problem.place}` };
  }
  return undefined;
}
