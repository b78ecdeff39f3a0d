import { type FieldNode, Kind, type SelectionSetNode } from "graphql";
import { aborted, FieldError, locationOf, type SourceLocation } from "../graphQlError.ts";
import { isIncluded, type Operation } from "../operation.ts";
import { RESOLVERS } from "../resolvers/resolvers.ts";
import type { Resolve } from "../resolvers/resolverTable.ts";
import {
  fieldOf,
  isNonNull,
  isTypeNameField,
  type NamedType,
  nullableOf,
  type SchemaField,
  type TypeRef,
  unwrapAll,
} from "../schema.ts";
import { readArguments, type Values } from "../values.ts";
import { nameOf } from "./answerText.ts";

/**
 * A field to execute: selections of the same name merged, arguments read, fragments put in their places. As the schema has no
 * interfaces and no unions, all that is known before the first value is.
 */
export interface PlannedField {
  /** The name in the answer. */
  readonly key: string;
  /** The same as it is written. */
  readonly name: string;
  /** Gives its value; undefined for a field that never has one. */
  readonly resolve: Resolve | undefined;
  readonly field: SchemaField;
  /** Type of the object that has the field. */
  readonly parent: NamedType;
  readonly args: Values;
  /** Why the arguments cannot be used; undefined when they can. */
  readonly argumentError: FieldError | undefined;
  readonly location: SourceLocation;
  readonly shape: Shape;
  /** What is selected of an object, or of each object of a list. */
  readonly selections: readonly PlannedField[];
}

/** A type in the form that the executor asks for. */
export interface Shape {
  readonly isNonNull: boolean;
  /** Whether it is neither an object nor a list. */
  readonly isLeaf: boolean;
  /** The items of a list; undefined for others. */
  readonly item: Shape | undefined;
  readonly type: TypeRef;
  readonly named: NamedType;
}

/** Plans an operation. Throws a Refusal when it is too large: fragments within fragments multiply. */
export function planOf({ selectionSet, rootType, variables, fragments }: Operation): readonly PlannedField[] {
  let planned = 0;
  const collect = (
    { selections }: SelectionSetNode,
    into: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void => {
    for (const selection of selections) {
      if (++planned > MOST_FIELDS) throw aborted(`The query selects more than ${MOST_FIELDS} fields`);
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const nodes = into.get(key);
        if (nodes === undefined) into.set(key, [selection]);
        else nodes.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, into, visited);
      else {
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined || visited.has(fragment.name.value)) continue;
        visited.add(fragment.name.value);
        collect(fragment.selectionSet, into, visited);
      }
    }
  };
  const plan = (sets: readonly SelectionSetNode[], parent: NamedType): readonly PlannedField[] => {
    const fields = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const set of sets) collect(set, fields, visited);
    return [...fields].flatMap(([key, nodes]) => {
      const [node] = nodes;
      const field = node && fieldOf(parent, node.name.value);
      if (node === undefined || field === undefined) return [];
      const shape = shapeOf(field.type);
      const below = nodes.flatMap((each) => each.selectionSet ?? []);
      const args = argumentsOf(field, node, variables);
      return [
        {
          key,
          name: nameOf(key),
          resolve: resolverOf(field, parent),
          field,
          parent,
          location: locationOf(node),
          shape,
          args: args instanceof FieldError ? {} : args,
          argumentError: args instanceof FieldError ? args : undefined,
          selections: below.length === 0 ? [] : plan(below, shape.named),
        },
      ];
    });
  };
  return plan([selectionSet], rootType);
}

function resolverOf(field: SchemaField, parent: NamedType): Resolve | undefined {
  return isTypeNameField(field) ? () => parent.name : RESOLVERS.get(`${parent.name}.${field.name}`);
}

/** The complexity limit allows a few hundred, unless fragments are used many times. */
const MOST_FIELDS = 10_000;

function argumentsOf(
  field: SchemaField,
  node: FieldNode,
  variables: Operation["variables"],
): Values | FieldError {
  try {
    return readArguments(field.args, node.arguments, variables);
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
}

const shapes = new Map<TypeRef, Shape>();

function shapeOf(type: TypeRef): Shape {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const nullable = nullableOf(type);
  const item = "ofType" in nullable ? shapeOf(nullable.ofType) : undefined;
  const named = unwrapAll(type);
  const isLeaf = item === undefined && named.kind !== "OBJECT";
  const shape = { isNonNull: isNonNull(type), isLeaf, item, type: nullable, named };
  shapes.set(type, shape);
  return shape;
}
