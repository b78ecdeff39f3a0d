import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
} from "graphql";
import type { Steps } from "../../../primitives/steps.ts";
import type { GraphQlError } from "../graphQlError.ts";
import { literalText, valueText } from "../javaText.ts";
import {
  DIRECTIVES,
  type Directive,
  fieldOf,
  type InputValue,
  isNonNull,
  MUTATION,
  type NamedType,
  nullableOf,
  printType,
  QUERY,
  type SchemaField,
  type TypeRef,
  typeOfName,
  typeOfNode,
  unwrapAll,
} from "../schema.ts";
import { argumentProblem, fits } from "./argumentProblem.ts";
import { DefinitionRules } from "./definitionRules.ts";
import { fragmentCycles } from "./fragmentCycles.ts";
import { OverlappingFields } from "./overlappingFields.ts";
import { ErrorLimitReached, ValidationErrors } from "./validationErrors.ts";
import type { WorkLimit } from "./workLimit.ts";

/**
 * Checks a query against the schema, by the rules of graphql-java 21.3 and in its words. Its order decides which error comes
 * first: one walk over the tree, and at each node the rules in their order. Some rules follow a fragment from each operation that
 * uses it; the others see it once, where it is defined.
 */
export function* validate(document: DocumentNode, work: WorkLimit): Steps<readonly GraphQlError[]> {
  const validation = new Validation(document, work);
  try {
    yield* validation.checkDocument();
  } catch (error) {
    if (!(error instanceof ErrorLimitReached)) throw error;
  }
  return validation.errors.list;
}

/** Which rules a walk applies: all, those that do not follow fragments, or those that do. */
type Scope = "all" | "local" | "following";

class Validation {
  readonly errors = new ValidationErrors();
  private readonly document: DocumentNode;
  private readonly work: WorkLimit;
  private readonly fragments = new Map<string, FragmentDefinitionNode>();
  private readonly overlapping: OverlappingFields;

  private scope: Scope = "all";
  private isInOperation = false;
  private readonly followed = new Set<string>();

  // State of the current operation.
  private readonly variables = new Map<string, VariableDefinitionNode>();
  private readonly usedVariables = new Set<string>();

  private readonly definitions = new DefinitionRules(this.errors);

  constructor(document: DocumentNode, work: WorkLimit) {
    this.document = document;
    this.work = work;
    for (const definition of document.definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    this.overlapping = new OverlappingFields(this.fragments, this.errors, work);
  }

  *checkDocument(): Steps<void> {
    this.definitions.checkExecutable(this.document);
    for (const definition of this.document.definitions) {
      if (definition.kind === Kind.OPERATION_DEFINITION) yield* this.checkOperation(definition);
      else if (definition.kind === Kind.FRAGMENT_DEFINITION) yield* this.checkFragment(definition);
    }
    this.definitions.checkUnusedFragments(this.document);
  }

  // Definitions

  private *checkOperation(operation: OperationDefinitionNode): Steps<void> {
    this.work.spend();
    this.isInOperation = true;
    this.variables.clear();
    this.usedVariables.clear();
    this.definitions.checkOperation(operation);
    this.checkDirectivesOnce("OperationDefinition", operation.directives);
    this.definitions.checkVariableNames(operation);
    this.definitions.checkSubscription(operation);
    for (const definition of operation.variableDefinitions ?? []) this.checkVariableDefinition(definition);
    this.checkDirectives(operation.directives, operation.operation.toUpperCase());
    yield* this.checkSelections(operation.selectionSet, rootType(operation));
    this.followed.clear();
    this.isInOperation = false;
    for (const definition of operation.variableDefinitions ?? []) {
      const name = definition.variable.name.value;
      if (!this.usedVariables.has(name))
        this.errors.add("UnusedVariable", definition, `Unused variable '${valueText(name)}'`);
    }
  }

  private checkVariableDefinition(definition: VariableDefinitionNode): void {
    this.work.spend();
    const { variable, type: typeNode, defaultValue, directives } = definition;
    this.variables.set(variable.name.value, definition);
    const type = typeOfNode(typeNode);
    const named = type && unwrapAll(type);
    const isInput = named === undefined || named.kind !== "OBJECT";
    if (defaultValue !== undefined && type !== undefined && isInput && !fits(type, defaultValue))
      this.errors.add(
        "BadValueForDefaultArg",
        definition,
        `Bad default value '${literalText(defaultValue)}' for type '${printType(type)}'`,
      );
    if (!isInput)
      this.errors.add(
        "NonInputTypeOnVariable",
        definition,
        `Input variable '${valueText(variable.name.value)}' type '${named.name}' is not an input type`,
      );
    this.checkTypeName(typeNode);
    if (defaultValue !== undefined) this.checkValue(defaultValue, isInput ? type : undefined);
    this.checkDirectives(directives, "VARIABLE_DEFINITION");
  }

  private checkTypeName(node: VariableDefinitionNode["type"]): void {
    if (node.kind !== Kind.NAMED_TYPE) this.checkTypeName(node.type);
    else if (this.scope !== "following" && typeOfName(node.name.value) === undefined)
      this.errors.add("UnknownType", node, `Unknown type '${valueText(node.name.value)}'`);
  }

  /** A fragment where it is defined. */
  private *checkFragment(fragment: FragmentDefinitionNode): Steps<void> {
    this.scope = "local";
    this.errors.enter(fragment.name.value);
    const name = fragment.name.value;
    const type = typeOfName(fragment.typeCondition.name.value);
    if (type !== undefined && type.kind !== "OBJECT")
      this.errors.add(
        "FragmentTypeConditionInvalid",
        fragment,
        "Fragment type condition is invalid, must be on Object/Interface/Union",
      );
    const cycles = yield* fragmentCycles(name, this.fragments, this.work);
    for (let count = cycles; count > 0; count--)
      this.errors.add("FragmentCycle", fragment, "Fragment cycles not allowed");
    this.definitions.checkFragment(fragment);
    this.checkDirectivesOnce("FragmentDefinition", fragment.directives);
    yield* this.walkFragment(fragment);
    this.errors.leave();
    this.scope = "all";
  }

  private *walkFragment({ typeCondition, directives, selectionSet }: FragmentDefinitionNode): Steps<void> {
    this.work.spend();
    this.checkTypeName(typeCondition);
    this.checkDirectives(directives, "FRAGMENT_DEFINITION");
    yield* this.checkSelections(selectionSet, typeOfName(typeCondition.name.value));
  }

  // Selections

  private *checkSelections(set: SelectionSetNode, outputType: NamedType | undefined): Steps<void> {
    const parent = outputType?.kind === "OBJECT" ? outputType : undefined;
    this.work.enter();
    for (const selection of set.selections) {
      this.work.spend();
      if (this.work.isStepFull()) yield;
      if (selection.kind === Kind.FIELD) yield* this.checkField(selection, parent);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) yield* this.checkSpread(selection, parent);
      else yield* this.checkInlineFragment(selection, parent);
    }
    this.work.leave();
    if (this.scope !== "following") yield* this.overlapping.check(set, outputType);
  }

  private *checkField(node: FieldNode, parent: NamedType | undefined): Steps<void> {
    this.errors.enter(node.name.value);
    const field = parent && fieldOf(parent, node.name.value);
    if (this.scope !== "following") this.checkFieldHere(node, parent, field);
    for (const argument of node.arguments ?? []) this.checkArgument(argument, field?.args, "field");
    this.checkDirectives(node.directives, "FIELD", field?.args);
    if (node.selectionSet !== undefined)
      yield* this.checkSelections(node.selectionSet, field && unwrapAll(field.type));
    this.errors.leave();
  }

  private checkFieldHere(
    node: FieldNode,
    parent: NamedType | undefined,
    field: SchemaField | undefined,
  ): void {
    const name = node.name.value;
    if (parent !== undefined && field === undefined)
      this.errors.add(
        "FieldUndefined",
        node,
        `Field '${valueText(name)}' in type '${parent.name}' is undefined`,
      );
    if (field !== undefined) {
      this.checkProvided(node, field);
      const isLeaf = unwrapAll(field.type).kind !== "OBJECT";
      if (isLeaf && node.selectionSet !== undefined)
        this.errors.add(
          "SubselectionNotAllowed",
          node,
          `Subselection not allowed on leaf type '${printType(field.type)}' of field '${name}'`,
        );
      if (!isLeaf && node.selectionSet === undefined)
        this.errors.add(
          "SubselectionRequired",
          node,
          `Subselection required for type '${printType(field.type)}' of field '${name}'`,
        );
    }
    this.checkDirectivesOnce("Field", node.directives);
    this.checkArgumentsOnce(node, node.arguments);
  }

  private checkProvided(node: FieldNode, { args }: SchemaField): void {
    for (const { name, type, defaultValue } of args.values()) {
      if (!isNonNull(type) || defaultValue !== undefined) continue;
      // The last of equal names counts.
      const value = node.arguments?.findLast((argument) => argument.name.value === name)?.value;
      if (value === undefined)
        this.errors.add("MissingFieldArgument", node, `Missing field argument '${name}'`);
      else if (value.kind === Kind.NULL)
        this.errors.add(
          "NullValueForNonNullArgument",
          node,
          `Null value for non-null field argument '${name}'`,
        );
    }
  }

  private *checkInlineFragment(node: InlineFragmentNode, parent: NamedType | undefined): Steps<void> {
    const { typeCondition, directives, selectionSet } = node;
    const type = typeCondition === undefined ? parent : typeOfName(typeCondition.name.value);
    const isComposite = type?.kind === "OBJECT";
    if (this.scope !== "following") {
      if (typeCondition !== undefined && type !== undefined && !isComposite)
        this.errors.add(
          "InlineFragmentTypeConditionInvalid",
          node,
          "Inline fragment type condition is invalid, must be on Object/Interface/Union",
        );
      if (isComposite && parent !== undefined && type !== parent)
        this.errors.add(
          "InvalidFragmentType",
          node,
          `Fragment cannot be spread here as objects of type '${parent.name}' can never be of type '${type.name}'`,
        );
      this.checkDirectivesOnce("InlineFragment", directives);
    }
    if (typeCondition !== undefined) this.checkTypeName(typeCondition);
    this.checkDirectives(directives, "INLINE_FRAGMENT");
    yield* this.checkSelections(selectionSet, type);
  }

  private *checkSpread(node: FragmentSpreadNode, parent: NamedType | undefined): Steps<void> {
    const name = node.name.value;
    const fragment = this.fragments.get(name);
    if (this.scope !== "following") {
      if (fragment === undefined)
        this.errors.add("UndefinedFragment", node, `Undefined fragment '${valueText(name)}'`);
      this.definitions.addSpread(name);
      const type = fragment && typeOfName(fragment.typeCondition.name.value);
      if (type?.kind === "OBJECT" && parent !== undefined && type !== parent)
        this.errors.add(
          "InvalidFragmentType",
          node,
          `Fragment '${name}' cannot be spread here as objects of type '${parent.name}' can never be of type '${type.name}'`,
        );
      this.checkDirectivesOnce("FragmentSpread", node.directives);
    }
    if (this.isInOperation && fragment !== undefined && !this.followed.has(name))
      yield* this.follow(fragment);
    this.checkDirectives(node.directives, "FRAGMENT_SPREAD");
  }

  private *follow(fragment: FragmentDefinitionNode): Steps<void> {
    this.followed.add(fragment.name.value);
    const { scope } = this;
    this.scope = "following";
    this.errors.enter(fragment.name.value);
    yield* this.walkFragment(fragment);
    this.errors.leave();
    this.scope = scope;
  }

  // Directives, arguments and values

  /** graphql-java takes the arguments of an unknown directive for those of its field. */
  private checkDirectives(
    nodes: readonly DirectiveNode[] | undefined,
    location: string,
    fieldArguments?: ReadonlyMap<string, InputValue>,
  ): void {
    for (const node of nodes ?? []) {
      this.work.spend();
      const directive = DIRECTIVES.get(node.name.value);
      if (this.scope !== "following") this.checkDirective(node, directive, location);
      for (const argument of node.arguments ?? [])
        if (directive === undefined) this.checkArgument(argument, fieldArguments, "field");
        else this.checkArgument(argument, directive.args, "directive");
    }
  }

  private checkDirective(node: DirectiveNode, directive: Directive | undefined, location: string): void {
    const name = valueText(node.name.value);
    if (directive === undefined) this.errors.add("UnknownDirective", node, `Unknown directive '${name}'`);
    else if (!directive.locations.includes(location))
      this.errors.add("MisplacedDirective", node, `Directive '${name}' not allowed here`);
    for (const { name: wanted, type, defaultValue } of directive?.args.values() ?? []) {
      const isGiven = node.arguments?.some((argument) => argument.name.value === wanted) === true;
      if (isNonNull(type) && defaultValue === undefined && !isGiven)
        this.errors.add("MissingDirectiveArgument", node, `Missing directive argument '${wanted}'`);
    }
    this.checkArgumentsOnce(node, node.arguments);
  }

  private checkDirectivesOnce(container: string, nodes: readonly DirectiveNode[] | undefined): void {
    if (this.scope === "following" || nodes === undefined || nodes.length < 2) return;
    const names = new Set<string>();
    for (const node of nodes) {
      const name = node.name.value;
      if (names.has(name) && DIRECTIVES.has(name))
        this.errors.add(
          "DuplicateDirectiveName",
          node,
          `Non repeatable directives must be uniquely named within a location. The directive '${name}' used on a '${container}' is not unique`,
        );
      names.add(name);
    }
  }

  private checkArgumentsOnce(
    node: FieldNode | DirectiveNode,
    nodes: readonly ArgumentNode[] | undefined,
  ): void {
    if (nodes === undefined || nodes.length < 2) return;
    const names = new Set<string>();
    for (const { name } of nodes) {
      if (names.has(name.value))
        this.errors.add(
          "DuplicateArgumentNames",
          node,
          `There can be only one argument named '${valueText(name.value)}'`,
        );
      names.add(name.value);
    }
  }

  private checkArgument(
    node: ArgumentNode,
    definitions: ReadonlyMap<string, InputValue> | undefined,
    owner: "field" | "directive",
  ): void {
    this.work.spend();
    const definition = definitions?.get(node.name.value);
    if (this.scope !== "following") {
      const problem = definition && argumentProblem(node, definition.type);
      if (problem !== undefined) this.errors.add("WrongType", node, problem);
      if (definitions !== undefined && definition === undefined)
        this.errors.add(
          owner === "field" ? "UnknownArgument" : "UnknownDirective",
          node,
          `Unknown ${owner} argument '${valueText(node.name.value)}'`,
        );
    }
    this.checkValue(node.value, definition?.type, definition?.defaultValue);
  }

  private checkValue(node: ValueNode, type: TypeRef | undefined, defaultValue?: ValueNode): void {
    this.work.spend();
    switch (node.kind) {
      case Kind.VARIABLE:
        this.checkVariable(node, type, defaultValue);
        return;
      case Kind.LIST: {
        const nullable = type && nullableOf(type);
        const itemType = nullable !== undefined && "ofType" in nullable ? nullable.ofType : undefined;
        for (const item of node.values) this.checkValue(item, itemType);
        return;
      }
      case Kind.OBJECT: {
        if (this.scope !== "following") this.checkMembersOnce(node);
        const members = type && unwrapAll(type).inputFields;
        for (const { name, value } of node.fields) {
          const member = members?.get(name.value);
          this.checkValue(value, member?.type, member?.defaultValue);
        }
        return;
      }
      default:
    }
  }

  private checkMembersOnce(node: Extract<ValueNode, { readonly kind: Kind.OBJECT }>): void {
    const names = new Set<string>();
    for (const { name } of node.fields) {
      if (names.has(name.value))
        this.errors.addBare(
          "UniqueObjectFieldName",
          node,
          `There can be only one field named '${valueText(name.value)}'`,
        );
      names.add(name.value);
    }
  }

  /** The rules about variables follow fragments, and only within operations is anything known of them. */
  private checkVariable(
    node: VariableNode,
    locationType: TypeRef | undefined,
    locationDefault: ValueNode | undefined,
  ): void {
    if (this.scope === "local") return;
    const name = node.name.value;
    const definition = this.variables.get(name);
    this.usedVariables.add(name);
    if (definition === undefined) {
      this.errors.add("UndefinedVariable", node, `Undefined variable '${valueText(name)}'`);
      return;
    }
    const type = typeOfNode(definition.type);
    if (type === undefined || locationType === undefined) return;
    const ownDefault = definition.defaultValue;
    const hasDefault = ownDefault !== undefined && ownDefault.kind !== Kind.NULL;
    if (mayStandFor(type, locationType, hasDefault || locationDefault !== undefined)) return;
    const effective = hasDefault && !isNonNull(type) ? `${printType(type)}!` : printType(type);
    this.errors.add(
      "VariableTypeMismatch",
      node,
      `Variable '${valueText(name)}' of type '${effective}' used in position expecting type '${printType(locationType)}'`,
    );
  }
}

function rootType({ operation }: OperationDefinitionNode): NamedType | undefined {
  if (operation === OperationTypeNode.SUBSCRIPTION) return undefined;
  return operation === OperationTypeNode.QUERY ? QUERY : MUTATION;
}

/** Whether a variable of a type may be used where another is expected. */
function mayStandFor(type: TypeRef, expected: TypeRef, hasDefault: boolean): boolean {
  if (isNonNull(expected) && !isNonNull(type)) return hasDefault && isWithin(type, expected.ofType);
  return isWithin(type, expected);
}

function isWithin(type: TypeRef, expected: TypeRef): boolean {
  if (isNonNull(expected)) return isNonNull(type) && isWithin(type.ofType, expected.ofType);
  if (isNonNull(type)) return isWithin(type.ofType, expected);
  if ("ofType" in type && "ofType" in expected) return isWithin(type.ofType, expected.ofType);
  return type === expected;
}
