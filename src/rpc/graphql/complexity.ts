import { Kind, type NamedTypeNode, type SelectionNode, type SelectionSetNode } from "graphql";
import { isIncluded, type Operation } from "./operation.ts";
import { fieldOf, isTypeNameField, type NamedType, typeOfName, unwrapAll } from "./schema.ts";

/** Besu's limit. */
export const COMPLEXITY_LIMIT = 200;

/**
 * What Besu counts for an operation: 1 for each selected field, 100 for the block of a transaction or the fields of a type, nothing
 * for `__typename`. A fragment counts once, however often it is used: graphql-java visits each of its nodes once.
 */
export function complexityOf(operation: Operation): number {
  return new Count(operation).of(operation.selectionSet, operation.rootType);
}

class Count {
  private readonly operation: Operation;
  private readonly visited = new Set<string>();

  constructor(operation: Operation) {
    this.operation = operation;
  }

  of({ selections }: SelectionSetNode, parent: NamedType): number {
    let sum = 0;
    for (const selection of selections)
      if (isIncluded(selection, this.operation.variables)) sum += this.ofSelection(selection, parent);
    return sum;
  }

  private ofSelection(selection: SelectionNode, parent: NamedType): number {
    switch (selection.kind) {
      case Kind.FIELD: {
        const field = fieldOf(parent, selection.name.value);
        if (field === undefined || isTypeNameField(field)) return 0;
        const { selectionSet } = selection;
        const below = selectionSet === undefined ? 0 : this.of(selectionSet, unwrapAll(field.type));
        return costOf(parent, field.name) + below;
      }
      case Kind.INLINE_FRAGMENT:
        return this.of(selection.selectionSet, typeOn(selection.typeCondition, parent));
      case Kind.FRAGMENT_SPREAD: {
        const fragment = this.operation.fragments.get(selection.name.value);
        if (fragment === undefined || this.visited.has(fragment.name.value)) return 0;
        this.visited.add(fragment.name.value);
        return this.of(fragment.selectionSet, typeOn(fragment.typeCondition, parent));
      }
    }
  }
}

function typeOn(condition: NamedTypeNode | undefined, parent: NamedType): NamedType {
  return (condition && typeOfName(condition.name.value)) ?? parent;
}

function costOf({ name: parent }: NamedType, field: string): number {
  return (parent === "Transaction" && field === "block") || (parent === "__Type" && field === "fields")
    ? 100
    : 1;
}
