; Work for a profiler to look at: four programs that recurse, each in its own way.

(define (append a b) (if (null? a) b (cons (car a) (append (cdr a) b))))
(define (range from to) (if (< from to) (cons from (range (+ from 1) to)) ()))
(define (sum list) (apply + list))
(define (repeat n thunk) (if (< n 2) (thunk) (begin (thunk) (repeat (- n 1) thunk))))

; ---- queens: how many ways to put n of them on an n × n board. Recursion under a map.

(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= row (car placed)))
           (not (= row (+ (car placed) distance)))
           (not (= row (- (car placed) distance)))
           (safe? row (+ distance 1) (cdr placed)))))

(define (queens n) (place n (range 0 n) ()))

(define (place left rows placed)
  (if (= left 0)
      1
      (sum (map (lambda (row)
                  (if (safe? row 1 placed) (place (- left 1) rows (cons row placed)) 0))
                rows))))

; ---- derivatives: (derive '(* x x) 'x), and simplification until nothing changes.

(define (derive e x)
  (cond ((number? e) 0)
        ((eq? e x) 1)
        ((not (pair? e)) 0)
        ((eq? (car e) '+) (list '+ (derive (left e) x) (derive (right e) x)))
        ((eq? (car e) '*) (list '+ (list '* (derive (left e) x) (right e))
                                   (list '* (left e) (derive (right e) x))))))

(define (left e) (car (cdr e)))
(define (right e) (car (cdr (cdr e))))

(define (simplify e)
  (if (pair? e)
      (let ((a (simplify (left e)))
            (b (simplify (right e))))
        (cond ((eq? (car e) '+) (simplify-sum a b))
              (t (simplify-product a b))))
      e))

(define (simplify-sum a b)
  (cond ((and (number? a) (number? b)) (+ a b))
        ((equal? a 0) b)
        ((equal? b 0) a)
        ((equal? a b) (simplify-product 2 a))
        (t (list '+ a b))))

(define (simplify-product a b)
  (cond ((and (number? a) (number? b)) (* a b))
        ((or (equal? a 0) (equal? b 0)) 0)
        ((equal? a 1) b)
        ((equal? b 1) a)
        (t (list '* a b))))

(define (derive-times n e x) (if (= n 0) e (derive-times (- n 1) (simplify (derive e x)) x)))
(define (size e) (if (pair? e) (+ 1 (size (left e)) (size (right e))) 1))

; ---- sorting: merge sort of pseudo-random numbers. Recursion that halves.

(define (random-list n seed)
  (if (= n 0) () (cons (remainder seed 1000) (random-list (- n 1) (next-random seed)))))
(define (next-random seed) (remainder (+ (* seed 1103515245) 12345) 2147483648))

(define (merge a b)
  (cond ((null? a) b)
        ((null? b) a)
        ((< (car b) (car a)) (cons (car b) (merge a (cdr b))))
        (t (cons (car a) (merge (cdr a) b)))))

(define (evens list) (if (null? list) () (cons (car list) (odds (cdr list)))))
(define (odds list) (if (null? list) () (evens (cdr list))))

(define (sort list)
  (if (or (null? list) (null? (cdr list)))
      list
      (merge (sort (evens list)) (sort (odds list)))))

(define (sorted? list)
  (or (null? list) (null? (cdr list))
      (and (not (< (car (cdr list)) (car list))) (sorted? (cdr list)))))

; ---- parsing: arithmetic by recursive descent, three functions that call each other.
; Each takes the characters left and answers (value . characters left).

(define (parse text) (car (parse-sum (characters text))))

(define (parse-sum in) (more-terms (parse-product in)))
(define (more-terms so-far)
  (cond ((next-is? so-far 43) (more-terms (combine + so-far (parse-product (cdr (cdr so-far))))))
        ((next-is? so-far 45) (more-terms (combine - so-far (parse-product (cdr (cdr so-far))))))
        (t so-far)))

(define (parse-product in) (more-factors (parse-factor in)))
(define (more-factors so-far)
  (if (next-is? so-far 42)
      (more-factors (combine * so-far (parse-factor (cdr (cdr so-far)))))
      so-far))

(define (parse-factor in)
  (if (= (car in) 40)
      (let ((inner (parse-sum (cdr in)))) (cons (car inner) (cdr (cdr inner))))
      (parse-digits 0 in)))
(define (parse-digits value in)
  (if (and (pair? in) (digit? (car in)))
      (parse-digits (+ (* 10 value) (- (car in) 48)) (cdr in))
      (cons value in)))

(define (digit? c) (and (< 47 c) (< c 58)))
(define (next-is? so-far c) (and (pair? (cdr so-far)) (= (car (cdr so-far)) c)))
(define (combine operator a b) (cons (operator (car a) (car b)) (cdr b)))

; ---- all of it

(define polynomial
  '(* (+ x 1) (* (+ x 2) (* (+ x 3) (* (+ x 4) (* (+ x 5) (* (+ x 6) (* (+ x 7) (+ x 8)))))))))
(define formula "((1+2)*(3+4)*(5+(6*(7+8*(9+10)))))-(11*(12+13)*((14+15)))")

(print "queens:    " (queens 10))
(print "derivative:" (simplify (derive '(+ (* x (* x x)) (* 3 x)) 'x)))
(print "the 7th:   " (repeat 3 (lambda () (size (derive-times 7 polynomial 'x)))))
(print "sorted:    " (repeat 240 (lambda () (sorted? (sort (random-list 500 42))))))
(print "parsed:    " (repeat 20000 (lambda () (parse formula))))
