-- SPDX-License-Identifier: GPL-2.0-only
-- A small order book: filled, indexed, joined, changed.
PRAGMA journal_mode = wal;
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER,
		     amount REAL, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO customer SELECT i, 'customer ' || hex(i * 2654435761 % 4294967296),
	i * 7919 % 97 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
INSERT INTO orders SELECT i, i * 48271 % 2000 + 1, i * 69621 % 365,
	(i * 16807 % 10007) / 100.0, 'note ' || (i % 613) FROM n;
CREATE INDEX orders_customer ON orders(customer);
CREATE INDEX orders_day ON orders(day, amount);
SELECT city, count(*), round(sum(amount), 2), max(note)
	FROM customer JOIN orders ON orders.customer = customer.id
	GROUP BY city ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM orders WHERE note LIKE '%61%' AND day BETWEEN 30 AND 200;
UPDATE orders SET amount = amount * 1.1 WHERE day % 7 = 3;
DELETE FROM orders WHERE customer IN (SELECT id FROM customer WHERE city = 11);
SELECT day, avg(amount) OVER (ORDER BY day ROWS 6 PRECEDING)
	FROM (SELECT day, sum(amount) AS amount FROM orders GROUP BY day)
	ORDER BY 2 DESC LIMIT 5;
