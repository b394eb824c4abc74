// What is seen as a table: one row an instant, one column a quantity; a cell is empty where that quantity has no value then.

const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// columns: [[title, times, values] …], times in Unix s; from, to: Unix s
export function csvOf(columns, from, to) {
  const rows = new Map();
  columns.forEach(([, times, values], column) => times.forEach((time, i) => {
    if (time < from || time > to || values[i] === null) return;
    const key = time.toFixed(4);
    if (!rows.has(key)) rows.set(key, Array(columns.length).fill(""));
    rows.get(key)[column] = String(Number(values[i].toPrecision(7))); // the wire has float32
  }));
  const lines = [...rows.entries()].sort(([a], [b]) => a - b).map(([time, cells]) => [time, new Date(1000 * time).toISOString(), ...cells].join());
  return [["time [s]", "time (UTC)", ...columns.map(([title]) => quoted(title))].join(), ...lines, ""].join("\r\n");
}

export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
