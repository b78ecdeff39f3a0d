import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from "graphql";
import { valueText } from "../javaText.ts";
import type { ValidationErrors } from "./validationErrors.ts";

/** The rules about the definitions of a document: their kinds, their names, and which fragments are used. */
export class DefinitionRules {
  private readonly errors: ValidationErrors;
  private readonly operationNames = new Set<string>();
  private operations = 0;
  private hasAnonymous = false;
  private readonly fragmentNames = new Set<string>();
  private readonly spreadsInOperations: string[][] = [];
  private readonly spreadsInFragments = new Map<string, string[]>();
  /** The spreads of the definition that is being walked. */
  private spreads: string[] = [];

  constructor(errors: ValidationErrors) {
    this.errors = errors;
  }

  checkExecutable({ definitions }: DocumentNode): void {
    for (const definition of definitions) {
      const text = notExecutable(definition);
      if (text !== undefined) this.errors.add("NonExecutableDefinition", definition, text);
    }
  }

  checkOperation(operation: OperationDefinitionNode): void {
    this.spreads = [];
    this.spreadsInOperations.push(this.spreads);
    this.checkAlone(operation);
    this.checkNameOnce(operation);
  }

  private checkAlone(operation: OperationDefinitionNode): void {
    const name = operation.name?.value;
    const type = "LoneAnonymousOperationViolation";
    if (name === undefined) {
      this.hasAnonymous = true;
      if (this.operations > 0) this.errors.add(type, operation, "Anonymous operation with other operations");
    } else if (this.hasAnonymous)
      this.errors.add(type, operation, `Operation '${valueText(name)}' is following anonymous operation`);
    this.operations++;
  }

  private checkNameOnce(operation: OperationDefinitionNode): void {
    const name = operation.name?.value;
    if (name === undefined) return;
    if (this.operationNames.has(name))
      this.errors.add(
        "DuplicateOperationName",
        operation,
        `There can be only one operation named '${valueText(name)}'`,
      );
    this.operationNames.add(name);
  }

  checkVariableNames({ variableDefinitions = [] }: OperationDefinitionNode): void {
    const names = new Set<string>();
    for (const definition of variableDefinitions) {
      const name = definition.variable.name.value;
      if (names.has(name))
        this.errors.add(
          "DuplicateVariableName",
          definition,
          `There can be only one variable named '${valueText(name)}'`,
        );
      names.add(name);
    }
  }

  checkSubscription(node: OperationDefinitionNode): void {
    const { operation, name, selectionSet } = node;
    if (operation !== OperationTypeNode.SUBSCRIPTION || selectionSet.selections.length < 2) return;
    this.errors.add(
      "SubscriptionMultipleRootFields",
      node,
      `Subscription operation '${name === undefined ? "null" : valueText(name.value)}' must have exactly one root field`,
    );
  }

  checkFragment(fragment: FragmentDefinitionNode): void {
    const name = fragment.name.value;
    this.spreads = [];
    this.spreadsInFragments.set(name, this.spreads);
    if (this.fragmentNames.has(name))
      this.errors.add(
        "DuplicateFragmentName",
        fragment,
        `There can be only one fragment named '${valueText(name)}'`,
      );
    this.fragmentNames.add(name);
  }

  /** Notes that the current definition uses a fragment. */
  addSpread(name: string): void {
    this.spreads.push(name);
  }

  checkUnusedFragments({ definitions }: DocumentNode): void {
    const used = new Set<string>();
    const waiting = this.spreadsInOperations.flat();
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (used.has(name)) continue;
      used.add(name);
      waiting.push(...(this.spreadsInFragments.get(name) ?? []));
    }
    for (const definition of definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION && !used.has(definition.name.value))
        this.errors.add(
          "UnusedFragment",
          definition,
          `Unused fragment '${valueText(definition.name.value)}'`,
        );
  }
}

/** What is said of a definition that is neither an operation nor a fragment. */
function notExecutable(definition: DocumentNode["definitions"][number]): string | undefined {
  if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION)
    return undefined;
  const isNamed = "name" in definition && definition.name !== undefined;
  const name = isNamed ? valueText(definition.name.value) : "";
  switch (definition.kind) {
    case Kind.SCHEMA_DEFINITION:
      return "Schema definition is not executable";
    case Kind.DIRECTIVE_DEFINITION:
      return `Directive '${name}' definition is not executable`;
    default:
      return isNamed
        ? `Type '${name}' definition is not executable`
        : "Provided definition is not executable";
  }
}
