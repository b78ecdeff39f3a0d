import { type FieldNode, Kind, type SelectionSetNode } from "graphql";
import { StepMeter, type Steps } from "../../../primitives/steps.ts";
import { aborted, FieldError, locationOf, type SourceLocation } from "../graphQlError.ts";
import { isIncluded, type Operation } from "../operation.ts";
import { READING_FIELDS, RESOLVERS } from "../resolvers/resolvers.ts";
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
import { type MemberName, memberName } from "./answerText.ts";

/**
 * A field to execute: selections of the same name merged, arguments read, fragments put in their places. As the schema has no
 * interfaces and no unions, all that is known before the first value is.
 */
export interface PlannedField {
  /** The name in the answer. */
  readonly key: string;
  /** The same as it is written. */
  readonly name: MemberName;
  /** Gives its value; undefined for a field that never has one. */
  readonly resolve: Resolve | undefined;
  /** Whether its value, or the items of it, may be read from the disk. */
  readonly isRead: boolean;
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
export function planOf(operation: Operation): Steps<readonly PlannedField[]> {
  return new Planning(operation).plan([operation.selectionSet], operation.rootType);
}

class Planning {
  private readonly operation: Operation;
  private readonly meter = new StepMeter();
  /** The arguments of each field of the text, which fragments put in many places: a megabyte is read once. */
  private readonly argumentsRead = new Map<FieldNode, Values | FieldError>();
  /** The names as they are written, each once for the same reason. */
  private readonly names = new Map<string, MemberName>();
  private planned = 0;

  constructor(operation: Operation) {
    this.operation = operation;
  }

  *plan(sets: readonly SelectionSetNode[], parent: NamedType): Steps<readonly PlannedField[]> {
    const nodesByKey = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const set of sets) this.collect(set, nodesByKey, visited);
    const fields: PlannedField[] = [];
    for (const [key, nodes] of nodesByKey) {
      const [node] = nodes;
      const field = node && fieldOf(parent, node.name.value);
      if (node === undefined || field === undefined) continue;
      if (this.meter.isFull(FIELD_BYTES)) yield;
      const args = this.argumentsRead.get(node) ?? (yield* this.readArguments(field, node));
      const { shape, name, resolve, isRead } = partsOf(field);
      const below = nodes.flatMap((each) => each.selectionSet ?? []);
      fields.push({
        key,
        name: key === field.name ? name : this.nameOf(key),
        resolve: isTypeNameField(field) ? () => parent.name : resolve,
        isRead,
        field,
        parent,
        location: locationOf(node),
        shape,
        args: args instanceof FieldError ? {} : args,
        argumentError: args instanceof FieldError ? args : undefined,
        selections: below.length === 0 ? [] : yield* this.plan(below, shape.named),
      });
    }
    return fields;
  }

  private nameOf(key: string): MemberName {
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const name = memberName(key);
    this.names.set(key, name);
    return name;
  }

  private collect(
    { selections }: SelectionSetNode,
    into: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void {
    for (const selection of selections) {
      if (++this.planned > MOST_FIELDS) throw aborted(`The query selects more than ${MOST_FIELDS} fields`);
      if (!isIncluded(selection, this.operation.variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const nodes = into.get(key);
        if (nodes === undefined) into.set(key, [selection]);
        else nodes.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) this.collect(selection.selectionSet, into, visited);
      else {
        const fragment = this.operation.fragments.get(selection.name.value);
        if (fragment === undefined || visited.has(fragment.name.value)) continue;
        visited.add(fragment.name.value);
        this.collect(fragment.selectionSet, into, visited);
      }
    }
  }

  private *readArguments(field: SchemaField, node: FieldNode): Steps<Values | FieldError> {
    const args = argumentsOf(field, node, this.operation.variables);
    this.argumentsRead.set(node, args);
    const first = node.arguments?.at(0)?.loc;
    const last = node.arguments?.at(-1)?.loc;
    if (first && last && this.meter.isFull(last.end - first.start)) yield;
    return args;
  }
}

/** Bytes that are copied in about the time that a field takes. */
const FIELD_BYTES = 1024;

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

/** What is the same wherever a field of the schema is selected. */
interface FieldParts {
  readonly shape: Shape;
  /** The field's own name, ready to be written. */
  readonly name: MemberName;
  readonly resolve: Resolve | undefined;
  readonly isRead: boolean;
}

const partsByField = new Map<SchemaField, FieldParts>();

function partsOf(field: SchemaField): FieldParts {
  const known = partsByField.get(field);
  if (known !== undefined) return known;
  const { name, parent, type } = field;
  const path = `${parent.name}.${name}`;
  const parts = {
    shape: shapeOf(type),
    name: memberName(name),
    resolve: RESOLVERS.get(path),
    isRead: READING_FIELDS.has(path),
  };
  partsByField.set(field, parts);
  return parts;
}

function shapeOf(type: TypeRef): Shape {
  const nullable = nullableOf(type);
  const item = "ofType" in nullable ? shapeOf(nullable.ofType) : undefined;
  const named = unwrapAll(type);
  const isLeaf = item === undefined && named.kind !== "OBJECT";
  return { isNonNull: isNonNull(type), isLeaf, item, type: nullable, named };
}
