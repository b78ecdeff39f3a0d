import { type FieldNode, type FragmentDefinitionNode, Kind, print, type SelectionSetNode } from "graphql";
import type { Steps } from "../../../primitives/steps.ts";
import { pathText, valueText } from "../javaText.ts";
import { fieldOf, type NamedType, printType, type TypeRef, typeOfName, unwrapAll } from "../schema.ts";
import type { ValidationErrors } from "./validationErrors.ts";
import type { WorkLimit } from "./workLimit.ts";

/** A field that is selected, with its type and that of its object, as far as the schema has them. */
interface Selected {
  readonly node: FieldNode;
  readonly type: TypeRef | undefined;
  readonly parent: NamedType | undefined;
}

/** Fields by their name in the answer, which has one member for all of a name. */
type Selections = ReadonlyMap<string, ReadonlyMap<FieldNode, Selected>>;

/**
 * Fields that give one member of the answer must be the same field with the same arguments, and so must those below them. Two
 * searches, as in graphql-java: first for types of different shapes, then for different fields and arguments.
 */
export class OverlappingFields {
  private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  private readonly errors: ValidationErrors;
  private readonly work: WorkLimit;
  private readonly ids = new Map<FieldNode, number>();
  private readonly argumentTexts = new Map<FieldNode, readonly ArgumentText[]>();
  private readonly shapesChecked = new Set<string>();
  private readonly fieldsChecked = new Set<string>();
  private readonly reported = new Set<string>();

  constructor(
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    errors: ValidationErrors,
    work: WorkLimit,
  ) {
    this.fragments = fragments;
    this.errors = errors;
    this.work = work;
  }

  /** Checks a selection set of an object of that type, and what is below it. */
  *check(set: SelectionSetNode, type: NamedType | undefined): Steps<void> {
    const selections = new Map<string, Map<FieldNode, Selected>>();
    yield* this.collect(set, type, selections, new Set());
    const conflicts: Conflict[] = [];
    yield* this.compareShapes(selections, undefined, conflicts);
    yield* this.compareFields(selections, undefined, conflicts);
    for (const { path, nodes, problem } of conflicts) {
      const key = this.keyOf(nodes);
      if (this.reported.has(key)) continue;
      this.reported.add(key);
      this.errors.add("FieldsConflict", nodes, `'${pathText(namesOf(path))}' : ${problem()}`);
    }
  }

  private *collect(
    { selections }: SelectionSetNode,
    parent: NamedType | undefined,
    into: Map<string, Map<FieldNode, Selected>>,
    visited: Set<string>,
  ): Steps<void> {
    this.work.enter();
    for (const selection of selections) {
      this.work.spend();
      if (this.work.isStepFull()) yield;
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        const fields = into.get(name) ?? new Map<FieldNode, Selected>();
        into.set(name, fields);
        const field =
          parent && (parent.fields.get(selection.name.value) ?? fieldOf(parent, selection.name.value));
        fields.set(selection, { node: selection, type: field?.type, parent });
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition, selectionSet } = selection;
        const type = typeCondition === undefined ? parent : typeOfName(typeCondition.name.value);
        yield* this.collect(selectionSet, type, into, visited);
      } else {
        const fragment = this.fragments.get(selection.name.value);
        if (fragment === undefined || visited.has(fragment.name.value)) continue;
        visited.add(fragment.name.value);
        yield* this.collect(
          fragment.selectionSet,
          typeOfName(fragment.typeCondition.name.value),
          into,
          visited,
        );
      }
    }
    this.work.leave();
  }

  private *below(fields: Iterable<Selected>): Steps<Selections> {
    const selections = new Map<string, Map<FieldNode, Selected>>();
    for (const { node, type } of fields)
      if (node.selectionSet !== undefined)
        yield* this.collect(node.selectionSet, type && unwrapAll(type), selections, new Set());
    return selections;
  }

  private *compareShapes(
    selections: Selections,
    above: Path | undefined,
    conflicts: Conflict[],
  ): Steps<void> {
    this.work.enter();
    for (const [name, fields] of selections) {
      if (isOneLeaf(fields)) continue;
      if (this.work.isStepFull()) yield;
      const key = this.keyOf([...fields.keys()]);
      if (this.shapesChecked.has(key)) continue;
      this.shapesChecked.add(key);
      const path = { above, name };
      const problem = shapeProblem([...fields.values()]);
      if (problem !== undefined) conflicts.push({ path, nodes: [...fields.keys()], problem });
      else yield* this.compareShapes(yield* this.below(fields.values()), path, conflicts);
    }
    this.work.leave();
  }

  private *compareFields(
    selections: Selections,
    above: Path | undefined,
    conflicts: Conflict[],
  ): Steps<void> {
    this.work.enter();
    for (const [name, fields] of selections) {
      if (isOneLeaf(fields)) continue;
      if (this.work.isStepFull()) yield;
      const path = { above, name };
      for (const group of groupsByParent(fields.values())) {
        const nodes = group.map(({ node }) => node);
        const key = this.keyOf(nodes);
        if (this.fieldsChecked.has(key)) continue;
        this.fieldsChecked.add(key);
        const problem = this.fieldProblem(nodes);
        if (problem !== undefined) conflicts.push({ path, nodes, problem });
        else yield* this.compareFields(yield* this.below(group), path, conflicts);
      }
    }
    this.work.leave();
  }

  private fieldProblem([first, ...others]: readonly FieldNode[]): Problem | undefined {
    for (const other of others) {
      if (first === undefined) return undefined;
      if (other.name.value !== first.name.value)
        return () =>
          `'${valueText(first.name.value)}' and '${valueText(other.name.value)}' are different fields`;
      if (!hasSameTexts(this.textsOf(first), this.textsOf(other)))
        return () => "fields have different arguments";
    }
    return undefined;
  }

  /** The arguments of a field, which is compared with many others: a megabyte is printed once. */
  private textsOf(node: FieldNode): readonly ArgumentText[] {
    const known = this.argumentTexts.get(node);
    if (known !== undefined) return known;
    const texts = (node.arguments ?? []).map(({ name, value }) => ({ name: name.value, text: print(value) }));
    this.argumentTexts.set(node, texts);
    return texts;
  }

  /** Equal for equal sets of fields, which are always in the order of the text. */
  private keyOf(nodes: readonly FieldNode[]): string {
    this.work.spend(1 + nodes.length / 8);
    return nodes
      .map((node) => {
        const id = this.ids.get(node) ?? this.ids.size;
        this.ids.set(node, id);
        return id;
      })
      .join();
  }
}

/** Whether there is nothing to compare, as with most fields. */
function isOneLeaf(fields: ReadonlyMap<FieldNode, Selected>): boolean {
  if (fields.size > 1) return false;
  for (const { selectionSet } of fields.keys()) if (selectionSet !== undefined) return false;
  return true;
}

/** A name with the names above it, up to the selection set that is checked. */
interface Path {
  readonly above: Path | undefined;
  readonly name: string;
}

function namesOf(path: Path): readonly string[] {
  const names: string[] = [];
  for (let each: Path | undefined = path; each !== undefined; each = each.above) names.push(each.name);
  return names.reverse();
}

/** A conflict has no text until it is reported: there may be thousands, with names of half a megabyte. */
interface Conflict {
  readonly path: Path;
  readonly nodes: readonly FieldNode[];
  readonly problem: Problem;
}

type Problem = () => string;

/** The fields whose objects are of one type, for each type; those of no known type by themselves. */
function groupsByParent(fields: Iterable<Selected>): readonly (readonly Selected[])[] {
  const groups = new Map<NamedType | undefined, Selected[]>();
  for (const field of fields) {
    const parent = field.parent?.kind === "OBJECT" ? field.parent : undefined;
    const group = groups.get(parent) ?? [];
    groups.set(parent, group);
    group.push(field);
  }
  groups.delete(undefined);
  return [...groups.values()];
}

/** An argument, with its value as it is printed: different for values of different kinds. */
interface ArgumentText {
  readonly name: string;
  readonly text: string;
}

function hasSameTexts(a: readonly ArgumentText[], b: readonly ArgumentText[]): boolean {
  return (
    a.length === b.length &&
    b.every(({ name, text }) => a.find((argument) => argument.name === name)?.text === text)
  );
}

/** How the first type differs from another one in its shape. */
function shapeProblem([first, ...others]: readonly Selected[]): Problem | undefined {
  for (const { type } of others) {
    const problem = compareShape(first?.type, type);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function compareShape(a: TypeRef | undefined, b: TypeRef | undefined): Problem | undefined {
  if ((a?.kind === "NON_NULL") !== (b?.kind === "NON_NULL"))
    return () => "fields have different nullability shapes";
  if ((a?.kind === "LIST") !== (b?.kind === "LIST")) return () => "fields have different list shapes";
  if (a !== undefined && b !== undefined && "ofType" in a && "ofType" in b)
    return compareShape(a.ofType, b.ofType);
  if (a === undefined || b === undefined || a === b) return undefined;
  const hasLeaf = a.kind !== "OBJECT" || b.kind !== "OBJECT";
  return hasLeaf ? () => `returns different types '${printType(a)}' and '${printType(b)}'` : undefined;
}
