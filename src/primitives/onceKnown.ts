/** Applies `use` to a value: at once, or when its promise resolves. */
export function onceKnown<T, R>(value: T | Promise<T>, use: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
