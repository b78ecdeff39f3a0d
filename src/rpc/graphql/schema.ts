import {
  type DirectiveDefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  type TypeDefinitionNode,
  type TypeNode,
  type ValueNode,
} from "graphql";
import { expectDefined } from "../../primitives/assert.ts";
import { SCHEMA_TEXT } from "./schemaText.ts";

/*
 * The schema as validation, execution and introspection read it. The classes of the package graphql would not do: they
 * insist on their own introspection types, whose descriptions and fields are not Besu's.
 */

export interface NamedType {
  readonly kind: "OBJECT" | "SCALAR" | "INPUT_OBJECT" | "ENUM";
  readonly name: string;
  readonly description: string | undefined;
  /** The fields of an object, by name and in order; empty for other kinds. */
  readonly fields: ReadonlyMap<string, SchemaField>;
  /** The members of an input object. */
  readonly inputFields: ReadonlyMap<string, InputValue>;
  /** The values of an enumeration. */
  readonly values: readonly EnumValue[];
}

/** A type, or a list or a non-null variant of one. */
export type TypeRef = NamedType | ListType | NonNullType;

export interface ListType {
  readonly kind: "LIST";
  readonly ofType: TypeRef;
}

export interface NonNullType {
  readonly kind: "NON_NULL";
  readonly ofType: TypeRef;
}

export interface SchemaField {
  readonly name: string;
  readonly description: string | undefined;
  readonly parent: NamedType;
  readonly type: TypeRef;
  readonly args: ReadonlyMap<string, InputValue>;
  /** Why it should not be used any more; undefined when it may be. */
  readonly deprecationReason: string | undefined;
}

/** An argument, or a member of an input object. */
export interface InputValue {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: TypeRef;
  readonly defaultValue: ValueNode | undefined;
}

export interface EnumValue {
  readonly name: string;
  readonly description: string | undefined;
}

export interface Directive {
  readonly name: string;
  readonly description: string | undefined;
  readonly locations: readonly string[];
  readonly args: ReadonlyMap<string, InputValue>;
}

const KINDS = {
  [Kind.OBJECT_TYPE_DEFINITION]: "OBJECT",
  [Kind.SCALAR_TYPE_DEFINITION]: "SCALAR",
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: "INPUT_OBJECT",
  [Kind.ENUM_TYPE_DEFINITION]: "ENUM",
} as const;

/** All types by name, in the order of introspection. */
const TYPES = new Map<string, NamedType>();
export const DIRECTIVES = new Map<string, Directive>();

readSchema();

export const QUERY = expectDefined(TYPES.get("Query"), "the type of queries");
export const MUTATION = expectDefined(TYPES.get("Mutation"), "the type of mutations");

export function typeOfName(name: string): NamedType | undefined {
  return TYPES.get(name);
}

export function allTypes(): Iterable<NamedType> {
  return TYPES.values();
}

const STRING = expectDefined(TYPES.get("String"), "the type String");

/** Fields that an object type has without showing them by introspection. */
const TYPE_NAME_FIELD: SchemaField = metaField("__typename", nonNull(STRING), []);
const ROOT_FIELDS: ReadonlyMap<string, SchemaField> = new Map(
  [
    metaField("__schema", nonNull(expectDefined(TYPES.get("__Schema"), "the type __Schema")), []),
    metaField("__type", expectDefined(TYPES.get("__Type"), "the type __Type"), [
      { name: "name", description: undefined, type: nonNull(STRING), defaultValue: undefined },
    ]),
  ].map((field) => [field.name, field]),
);

/** The field of that name which a query may select in an object of the type. */
export function fieldOf(type: NamedType, name: string): SchemaField | undefined {
  if (type.kind !== "OBJECT") return undefined;
  if (name === TYPE_NAME_FIELD.name) return TYPE_NAME_FIELD;
  return type.fields.get(name) ?? (type === QUERY ? ROOT_FIELDS.get(name) : undefined);
}

export function isTypeNameField(field: SchemaField): boolean {
  return field === TYPE_NAME_FIELD;
}

/** The type without its wrappers. */
export function unwrapAll(type: TypeRef): NamedType {
  return "ofType" in type ? unwrapAll(type.ofType) : type;
}

export function isNonNull(type: TypeRef): type is NonNullType {
  return type.kind === "NON_NULL";
}

/** The type as it may be when it is not null. */
export function nullableOf(type: TypeRef): TypeRef {
  return type.kind === "NON_NULL" ? type.ofType : type;
}

/** The type in the notation of a query, such as [Bytes32!]!. */
export function printType(type: TypeRef): string {
  if (!("ofType" in type)) return type.name;
  return type.kind === "LIST" ? `[${printType(type.ofType)}]` : `${printType(type.ofType)}!`;
}

/** The type that a query names; undefined when the schema has none of that name. */
export function typeOfNode(node: TypeNode): TypeRef | undefined {
  if (node.kind === Kind.NAMED_TYPE) return TYPES.get(node.name.value);
  const ofType = typeOfNode(node.type);
  return ofType && { kind: node.kind === Kind.LIST_TYPE ? "LIST" : "NON_NULL", ofType };
}

function nonNull(ofType: TypeRef): NonNullType {
  return { kind: "NON_NULL", ofType };
}

function metaField(name: string, type: TypeRef, args: readonly InputValue[]): SchemaField {
  return {
    name,
    description: undefined,
    parent: QUERY,
    type,
    args: new Map(args.map((arg) => [arg.name, arg])),
    deprecationReason: undefined,
  };
}

function readSchema(): void {
  const { definitions } = parse(SCHEMA_TEXT, { noLocation: true });
  const members: (() => void)[] = [];
  for (const node of definitions) {
    if (node.kind === Kind.DIRECTIVE_DEFINITION) members.push(() => addDirective(node));
    else if ("name" in node && node.kind in KINDS) members.push(addType(node as TypeDefinitionNode));
  }
  // Types refer to one another, so their members are read when all are there.
  for (const addMembers of members) addMembers();
}

/** Adds the type without its members, and returns what adds these. */
function addType(node: TypeDefinitionNode): () => void {
  const fields = new Map<string, SchemaField>();
  const inputFields = new Map<string, InputValue>();
  const values: EnumValue[] = [];
  const type: NamedType = {
    kind: KINDS[node.kind as keyof typeof KINDS],
    name: node.name.value,
    description: node.description?.value,
    fields,
    inputFields,
    values,
  };
  TYPES.set(type.name, type);
  return () => {
    if (node.kind === Kind.OBJECT_TYPE_DEFINITION)
      for (const field of node.fields ?? []) fields.set(field.name.value, readField(field, type));
    else if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
      for (const [name, value] of readInputs(node.fields)) inputFields.set(name, value);
    else if (node.kind === Kind.ENUM_TYPE_DEFINITION) values.push(...(node.values ?? []).map(readEnumValue));
  };
}

function addDirective(node: DirectiveDefinitionNode): void {
  DIRECTIVES.set(node.name.value, {
    name: node.name.value,
    description: node.description?.value,
    locations: node.locations.map(({ value }) => value),
    args: readInputs(node.arguments),
  });
}

function readField(node: FieldDefinitionNode, parent: NamedType): SchemaField {
  const reason = node.directives?.find(({ name }) => name.value === "deprecated")?.arguments?.[0]?.value;
  return {
    name: node.name.value,
    description: node.description?.value,
    parent,
    type: readType(node.type),
    args: readInputs(node.arguments),
    deprecationReason: reason?.kind === Kind.STRING ? reason.value : undefined,
  };
}

function readInputs(nodes: readonly InputValueDefinitionNode[] = []): ReadonlyMap<string, InputValue> {
  return new Map(
    nodes.map((node) => [
      node.name.value,
      {
        name: node.name.value,
        description: node.description?.value,
        type: readType(node.type),
        defaultValue: node.defaultValue,
      },
    ]),
  );
}

function readEnumValue({ name, description }: EnumValueDefinitionNode): EnumValue {
  return { name: name.value, description: description?.value };
}

function readType(node: TypeNode): TypeRef {
  return expectDefined(typeOfNode(node), "a type of the schema");
}
