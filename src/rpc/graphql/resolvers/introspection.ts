import { print } from "graphql";
import {
  allTypes,
  DIRECTIVES,
  type Directive,
  type EnumValue,
  type InputValue,
  MUTATION,
  type NamedType,
  QUERY,
  type SchemaField,
  type TypeRef,
  typeOfName,
} from "../schema.ts";
import type { ResolverTable } from "./resolverTable.ts";

/** The schema about itself. Types that wrap others have a kind and nothing else. */
export const INTROSPECTION: ResolverTable = {
  Query: {
    __schema: () => ({}),
    __type: (_: undefined, { name }) => typeOfName(String(name)),
  },
  __Schema: {
    types: () => allTypes(),
    queryType: () => QUERY,
    mutationType: () => MUTATION,
    directives: () => DIRECTIVES.values(),
  },
  __Type: {
    kind: (type: TypeRef) => type.kind,
    name: (type: TypeRef) => ("ofType" in type ? undefined : type.name),
    description: (type: TypeRef) => ("ofType" in type ? undefined : type.description),
    fields: (type: TypeRef, { includeDeprecated }) =>
      ofKind(type, "OBJECT", ({ fields }) =>
        [...fields.values()].filter(
          ({ deprecationReason }) => deprecationReason === undefined || includeDeprecated === true,
        ),
      ),
    interfaces: (type: TypeRef) => ofKind(type, "OBJECT", () => []),
    enumValues: (type: TypeRef) => ofKind(type, "ENUM", ({ values }) => values),
    inputFields: (type: TypeRef) => ofKind(type, "INPUT_OBJECT", ({ inputFields }) => inputFields.values()),
    ofType: (type: TypeRef) => ("ofType" in type ? type.ofType : undefined),
    isOneOf: (type: TypeRef) => ofKind(type, "INPUT_OBJECT", () => false),
  },
  __Field: {
    name: ({ name }: SchemaField) => name,
    description: ({ description }: SchemaField) => description,
    args: ({ args }: SchemaField) => args.values(),
    type: ({ type }: SchemaField) => type,
    isDeprecated: ({ deprecationReason }: SchemaField) => deprecationReason !== undefined,
    deprecationReason: ({ deprecationReason }: SchemaField) => deprecationReason,
  },
  __InputValue: {
    name: ({ name }: InputValue) => name,
    description: ({ description }: InputValue) => description,
    type: ({ type }: InputValue) => type,
    defaultValue: ({ defaultValue }: InputValue) => defaultValue && print(defaultValue),
    isDeprecated: () => false,
  },
  __EnumValue: {
    name: ({ name }: EnumValue) => name,
    description: ({ description }: EnumValue) => description,
    isDeprecated: () => false,
  },
  __Directive: {
    name: ({ name }: Directive) => name,
    description: ({ description }: Directive) => description,
    isRepeatable: () => false,
    locations: ({ locations }: Directive) => locations,
    args: ({ args }: Directive) => args.values(),
  },
};

function ofKind<T>(type: TypeRef, kind: NamedType["kind"], read: (type: NamedType) => T): T | undefined {
  return !("ofType" in type) && type.kind === kind ? read(type) : undefined;
}
